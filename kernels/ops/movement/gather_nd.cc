// GATHER_ND: the elements or slices of input 0 at the coordinates in the last dimension of input 1.
//
//   out[i.., n..] = params[indices[i.., 0], ..., indices[i.., D−1], n..]
// Every coordinate is checked against its own dimension at run time; negative ones are refused.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareGatherNd(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64, DType::kInt16}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, kMaxRank));
  const Shape& params = context.input(0)->shape;
  const Shape& indices = context.input(1)->shape;
  const int depth = indices.back();
  if (depth > params.rank()) {
    return InvalidModel("%s: %s has %d coordinates per entry for a tensor of rank %d",
                        context.Where().c_str(), context.InputName(1).c_str(), depth,
                        params.rank());
  }
  TW_RETURN_IF_ERROR(CheckOutputRank(context, indices.rank() - 1 + params.rank() - depth));
  Shape shape;
  for (int d = 0; d + 1 < indices.rank(); ++d) shape.Append(indices.dim(d));
  for (int d = depth; d < params.rank(); ++d) shape.Append(params.dim(d));
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

// The slice of entry `row`, counted in slices; its coordinates must have been checked.
int64_t SliceOf(const Shape& params, const TensorView& indices, int64_t row, int depth) {
  int64_t slice = 0;
  for (int d = 0; d < depth; ++d) slice = slice * params.dim(d) + IntAt(indices, row * depth + d);
  return slice;
}

Status RunGatherNd(const RunContext& context) {
  const Shape& params = context.in(0).shape;
  const TensorView& indices = context.in(1);
  const int depth = indices.shape.back();
  const int64_t n_rows = indices.shape.Product(0, indices.shape.rank() - 1);
  for (int64_t k = 0; k < n_rows * depth; ++k) {
    const int d = static_cast<int>(k % depth);
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(indices, k), params.dim(d), k));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t bytes = params.Product(depth, params.rank()) * ElementBytes(context.in(0));
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, n_rows, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      CopyBytes(out + row * bytes, in + SliceOf(params, indices, row, depth) * bytes, bytes);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpGatherNd;
const OpDef kOpGatherNd = {OpCode::kGatherNd, "GATHER_ND",     83,         6,
                           nullptr,           PrepareGatherNd, RunGatherNd};

}  // namespace topwork
