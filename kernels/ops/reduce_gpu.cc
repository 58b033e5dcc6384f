// Reductions, row-wise operators and resizing on a GPU (reduce.cl, rowwise.cl, resize.cl).
#include <algorithm>
#include <vector>

#include "kernels/ops/gpu_plans.h"
#include "kernels/ops/resize.h"

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

}  // namespace

Status PlanReduce(GpuContext& context, ReduceKind kind) {
  const Shape& in = context.input(0)->shape;
  bool reduced[kMaxRank];
  if (!ReducedDims(context, reduced)) return Unsupported("its axes are not constant");
  int64_t outer = 1, steps = 1, inner = 1;
  bool inside = false, behind = false;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    if (reduced[d]) {
      if (behind) return Unsupported("its axes are not neighbours");
      inside = true;
      steps *= in.dim(d);
    } else {
      behind = behind || inside;
      (inside ? inner : outer) *= in.dim(d);
    }
  }
  context.Add("reduce", "reduce",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(static_cast<int>(kind)),
               IntArg(outer), IntArg(steps), IntArg(inner)},
              inner, outer);
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
  return Status::Ok();
}

}  // namespace

Status PlanResizeBilinear(GpuContext& context) {
  return PlanResize(context, "resize_bilinear", false);
}
Status PlanResizeNearest(GpuContext& context) {
  return PlanResize(context, "resize_nearest", true);
}

}  // namespace topwork
