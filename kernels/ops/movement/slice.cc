// SLICE: the box that begins at `begin` (input 1) and has the size `size` (input 2; −1 is up to the
// end of the dimension).
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status PrepareSlice(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 0, {DType::kInt4}));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  std::vector<int64_t> bounds[2];
  const TensorView& input = *context.input(0);
  for (int i = 1; i <= 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TW_RETURN_IF_ERROR(ReadInts(context, i, &bounds[i - 1]));
    if (static_cast<int>(bounds[i - 1].size()) != input.shape.rank()) {
      return InvalidModel("%s: %s has %zu values for a tensor of rank %d", context.Where().c_str(),
                          context.InputName(i).c_str(), bounds[i - 1].size(), input.shape.rank());
    }
  }
  int64_t strides[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  int64_t offset = 0;
  Shape shape;
  for (int d = 0; d < input.shape.rank(); ++d) {
    const int64_t begin = bounds[0][static_cast<size_t>(d)];
    int64_t size = bounds[1][static_cast<size_t>(d)];
    const int64_t dim = input.shape.dim(d);
    if (size == -1) size = dim - begin;
    if (begin < 0 || begin > dim || size < 0 || size > dim - begin) {
      return InvalidModel("%s: begin %lld and size %lld leave dimension %d of %s",
                          context.Where().c_str(), static_cast<long long>(begin),
                          static_cast<long long>(bounds[1][static_cast<size_t>(d)]), d,
                          input.shape.ToString().c_str());
    }
    offset += begin * strides[d];
    shape.Append(static_cast<int32_t>(size));
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  copy->set_src_offset(offset);
  return RequestWidening(context, SetStridedOutput(context, copy, shape, strides));
}

Status RunSlice(const RunContext& context) { return RunWidened(context, RunStridedCopy); }

}  // namespace

extern const OpDef kOpSlice;
const OpDef kOpSlice = {OpCode::kSlice, "SLICE", 48, 8, nullptr, PrepareSlice, RunSlice};

}  // namespace topwork
