// TRANSPOSE: output dimension d is input dimension perm[d] (input 1; negative counts from the end).
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status PrepareTranspose(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0, {DType::kInt4, DType::kUInt4}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  std::vector<int64_t> perm;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &perm));
  const TensorView& input = *context.input(0);
  const int rank = input.shape.rank();
  if (static_cast<int>(perm.size()) != rank) {
    return InvalidModel("%s: perm has %zu values for a tensor of rank %d", context.Where().c_str(),
                        perm.size(), rank);
  }
  int64_t strides[kMaxRank] = {}, src[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  bool taken[kMaxRank] = {};
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, perm[static_cast<size_t>(d)], rank, "perm", &axis));
    if (taken[axis]) {
      return InvalidModel("%s: perm names dimension %d twice", context.Where().c_str(), axis);
    }
    taken[axis] = true;
    src[d] = strides[axis];
    shape.Append(input.shape.dim(axis));
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  return RequestWidening(context, SetStridedOutput(context, copy, shape, src));
}

Status RunTranspose(const RunContext& context) { return RunWidened(context, RunStridedCopy); }

}  // namespace

extern const OpDef kOpTranspose;
const OpDef kOpTranspose = {OpCode::kTranspose, "TRANSPOSE", 26, 9, nullptr,
                            PrepareTranspose,   RunTranspose};

}  // namespace topwork
