// GATHER, GATHER_ND, EMBEDDING_LOOKUP and DYNAMIC_UPDATE_SLICE on a GPU (gather.cl).
#include <vector>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status CheckSameKind(const GpuFormat& a, const GpuFormat& b) {
  if (a.is_real == b.is_real) return Status::Ok();
  return Unsupported("only one of its tensors is quantized");
}

// Checks n indices of `depth` coordinates, known now or at run time; returns the block that a wrong
// one sets. Indices that are known now must be right.
Status CheckIndices(GpuContext& context, int i, const int32_t* dims, size_t depth, int* error) {
  const TensorView& view = *context.input(i);
  if (context.input_format(i).is_real) return Unsupported("its indices are quantized");
  if (view.data == nullptr) {
    *error = context.Error();
    return Status::Ok();
  }
  std::vector<int32_t> values(static_cast<size_t>(view.shape.NumElements()));
  TW_RETURN_IF_ERROR(ReadInts32(view, values.data()));
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] >= 0 && values[k] < dims[k % depth]) continue;
    return Unsupported("its index {} is outside [0, {})", values[k], dims[k % depth]);
  }
  *error = context.In(i);  // stands in, and is not written
  return Status::Ok();
}

// The slices [outer] of input `from` along an axis that input `indices` lists.
Status AddGather(GpuContext& context, int from, int indices, int64_t batch, int64_t outer,
                 int32_t axis, int64_t inner) {
  TW_RETURN_IF_ERROR(CheckSameKind(context.input_format(from), context.output_format(0)));
  int error = 0;
  TW_RETURN_IF_ERROR(CheckIndices(context, indices, &axis, 1, &error));
  const int64_t n = context.input(indices)->shape.NumElements() / batch;
  context.Add("gather", "gather",
              {BufferArg(context.In(from)), BufferArg(context.In(indices)),
               BufferArg(context.Out(0)), BufferArg(error), IntArg(outer), IntArg(axis), IntArg(n),
               IntArg(inner), IntArg(batch * outer)},
              inner, n, batch * outer);
  context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

}  // namespace

Status PlanGather(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& indices = context.input(1)->shape;
  const int axis = context.params().axis + (context.params().axis < 0 ? in.rank() : 0);
  int batch = context.params().batch_dims;
  if (batch < 0) batch += indices.rank();
  return AddGather(context, 0, 1, indices.Product(0, batch), in.Product(batch, axis), in.dim(axis),
                   in.Product(axis + 1, in.rank()));
}

Status PlanEmbeddingLookup(GpuContext& context) {
  const Shape& table = context.input(1)->shape;
  if (context.input(1)->dtype == DType::kUInt8 && context.output(0).dtype != DType::kUInt8) {
    return Unsupported("its bytes are those of int8");
  }
  return AddGather(context, 1, 0, 1, 1, table.dim(0), table.Product(1, table.rank()));
}

Status PlanGatherNd(GpuContext& context) {
  const Shape& in = context.input(0)->shape;
  const Shape& indices = context.input(1)->shape;
  const int depth = indices.back();
  if (depth == 0) return Unsupported("its indices have no coordinates");
  TW_RETURN_IF_ERROR(CheckSameKind(context.input_format(0), context.output_format(0)));
  int error = 0;
  TW_RETURN_IF_ERROR(CheckIndices(context, 1, in.dims(), static_cast<size_t>(depth), &error));
  const int64_t n_rows = indices.NumElements() / depth, inner = in.Product(depth, in.rank());
  context.Add("gather", "gather_nd",
              {BufferArg(context.In(0)), BufferArg(context.In(1)), BufferArg(context.Out(0)),
               BufferArg(error), BufferArg(context.Table({in.dims(), static_cast<size_t>(depth)})),
               IntArg(depth), IntArg(n_rows), IntArg(inner)},
              inner, n_rows);
  context.TakesFormat(context.output_format(0));
  return Status::Ok();
}

Status PlanDynamicUpdateSlice(GpuContext& context) {
  const Shape& out = context.output(0).shape;
  const Shape& update = context.input(1)->shape;
  const GpuFormat& format = context.output_format(0);
  for (int i = 0; i < 2; ++i) {
    TW_RETURN_IF_ERROR(CheckSameKind(context.input_format(i), format));
  }
  if (update.NumElements() == 0) return Unsupported("its update has no elements");
  if (context.input_format(2).is_real) return Unsupported("its start is quantized");
  const int64_t n = out.NumElements(), n_update = update.NumElements();
  int64_t strides[kMaxRank];
  ContiguousStrides(out, 1, strides);
  std::vector<int32_t> box;
  for (int d = 0; d < out.rank(); ++d) {
    box.push_back(update.dim(d));
    box.push_back(out.dim(d) - update.dim(d));
    box.push_back(static_cast<int32_t>(strides[d]));
  }
  StridedCopy whole(1);
  whole.AddDim(n, 1, 1);
  whole.Finish();
  AddStridedCopy(context, whole, 1, context.In(0), context.Out(0));
  context.Add(
      "gather", "update_slice",
      {BufferArg(context.In(1)), BufferArg(context.In(2)), BufferArg(context.Out(0)),
       BufferArg(context.Table({box.data(), box.size()})), IntArg(out.rank()), IntArg(n_update)},
      n_update);
  context.TakesFormat(format);
  return Status::Ok();
}

}  // namespace topwork
