// Reductions, row-wise operators and resizing on a GPU (reduce.cl, rowwise.cl, resize.cl).
#include <algorithm>
#include <vector>

#include "kernels/ops/conv/resize.h"
#include "kernels/ops/products/integer_gpu.h"
#include "kernels/ops/shared/gpu_plans.h"

namespace topwork {
namespace {

constexpr size_t kRowGroup = 64;  // TW_GROUP of rowwise.cl

// Which dimensions are reduced; false when the axes are not known.
bool ReducedDims(const GpuContext& context, bool* reduced) {
  const TensorView* axes = context.input(1);
  const int rank = context.input(0)->shape.rank();
  std::fill(reduced, reduced + kMaxRank, false);
  if (axes == nullptr || axes->data == nullptr) return false;
  for (int64_t i = 0; i < axes->shape.NumElements(); ++i) {
    const int64_t axis =
        axes->dtype == DType::kInt64 ? axes->as<const int64_t>()[i] : axes->as<const int32_t>()[i];
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return true;
}

// A copy of input 0 with its reduced dimensions behind the others.
int ReducedLast(GpuContext& context, const bool* reduced) {
  const Shape& in = context.input(0)->shape;
  int64_t strides[kMaxRank], to = in.NumElements();
  ContiguousStrides(in, 1, strides);
  StridedCopy copy(1);
  for (const bool last : {false, true}) {
    for (int d = 0; d < in.rank(); ++d) {
      if (reduced[d] != last) continue;
      to /= in.dim(d);
      copy.AddDim(in.dim(d), strides[d], to);
    }
  }
  copy.Finish();
  const int sorted = context.Scratch(static_cast<size_t>(in.NumElements()));
  AddStridedCopy(context, copy, 1, context.In(0), sorted);
  return sorted;
}

// Input 0 seen from the axis that input 1 names.
struct AxisNest {
  int64_t outer = 1, steps = 1, inner = 1;
};

Status ReadAxis(const GpuContext& context, AxisNest* nest) {
  const Shape& in = context.input(0)->shape;
  if (!context.is_constant(1)) return Unsupported("its axis is not constant");
  int32_t axis = 0;
  TW_RETURN_IF_ERROR(ReadInts32(*context.input(1), &axis));
  if (axis < 0) axis += in.rank();
  *nest = {in.Product(0, axis), in.dim(axis), in.Product(axis + 1, in.rank())};
  return Status::Ok();
}

}  // namespace

Status PlanReduce(GpuContext& context, ReduceKind kind) {
  const Shape& in = context.input(0)->shape;
  bool reduced[kMaxRank];
  if (!ReducedDims(context, reduced)) return Unsupported("its axes are not constant");
  int64_t outer = 1, steps = 1, inner = 1;
  bool inside = false, behind = false, apart = false;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    if (reduced[d]) {
      apart = apart || behind;
      inside = true;
      steps *= in.dim(d);
    } else {
      behind = behind || inside;
      (inside ? inner : outer) *= in.dim(d);
    }
  }
  if (!apart && AddIntegerReduce(context, kind, outer, steps, inner)) return Status::Ok();
  int from = context.In(0);
  if (apart) {
    from = ReducedLast(context, reduced);
    outer *= inner;
    inner = 1;
  }
  context.Add("reduce", "reduce",
              {BufferArg(from), BufferArg(context.Out(0)), IntArg(static_cast<int>(kind)),
               IntArg(outer), IntArg(steps), IntArg(inner)},
              inner, outer);
  return Status::Ok();
}

Status PlanArgExtreme(GpuContext& context, bool largest) {
  AxisNest nest;
  TW_RETURN_IF_ERROR(ReadAxis(context, &nest));
  context.Add("axis", "arg_extreme",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(largest),
               IntArg(nest.outer), IntArg(nest.steps), IntArg(nest.inner)},
              nest.inner, nest.outer);
  context.TakesFormat(context.input_format(0));
  return Status::Ok();
}

Status PlanCumsum(GpuContext& context) {
  const OpParams& params = context.params();
  AxisNest nest;
  TW_RETURN_IF_ERROR(ReadAxis(context, &nest));
  context.Add("axis", "cumsum",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(params.exclusive),
               IntArg(params.reverse), IntArg(nest.outer), IntArg(nest.steps), IntArg(nest.inner)},
              nest.inner, nest.outer);
  return Status::Ok();
}

Status PlanLocalResponseNormalization(GpuContext& context) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const int64_t n = in.back(), rows = in.NumElements() / n;
  context.Add("local_response_normalization", "local_response_normalization",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(rows), IntArg(n),
               IntArg(std::min<int64_t>(params.radius, n)), FloatArg(params.bias),
               FloatArg(params.alpha), FloatArg(params.beta)},
              n, rows);
  return Status::Ok();
}

Status PlanRowwise(GpuContext& context, RowwiseKind kind) {
  const Shape& shape = context.input(0)->shape;
  const int64_t n = shape.back();
  context.AddGroups("rowwise", "rowwise",
                    {BufferArg(context.In(0)), BufferArg(context.Out(0)),
                     IntArg(static_cast<int>(kind)), IntArg(n), FloatArg(context.params().beta)},
                    kRowGroup, 1, shape.NumElements() / n);
  return Status::Ok();
}

namespace {

Status PlanResize(GpuContext& context, const char* entry, bool nearest) {
  const OpParams& params = context.params();
  const Shape& in = context.input(0)->shape;
  const Shape& out = context.output(0).shape;
  const int64_t n_rows = static_cast<int64_t>(out[0]) * out[1];
  std::vector<LaunchArgument> args = {BufferArg(context.In(0)),
                                      BufferArg(context.Out(0)),
                                      IntArg(in[1]),
                                      IntArg(in[2]),
                                      IntArg(in[3]),
                                      IntArg(out[1]),
                                      IntArg(out[2]),
                                      IntArg(n_rows),
                                      FloatArg(ResizeScale(params, in[1], out[1])),
                                      FloatArg(ResizeScale(params, in[2], out[2])),
                                      IntArg(params.half_pixel_centers)};
  if (nearest) args.push_back(IntArg(params.align_corners));
  context.Add("resize", entry, args, (in[3] + 3) / 4, out[2], n_rows);
  if (context.moves_bytes()) context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

}  // namespace

Status PlanResizeBilinear(GpuContext& context) {
  return PlanResize(context, "resize_bilinear", false);
}
Status PlanResizeNearest(GpuContext& context) {
  // The kernel passes values on as floats.
  const GpuFormat& format = context.output_format(0);
  if (!format.is_real) return Unsupported("output 0 is %s", DTypeName(format.dtype));
  return PlanResize(context, "resize_nearest", true);
}

}  // namespace topwork
