// REVERSE_V2: the input with the order of the dimensions in input 1 reversed.
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status PrepareReverseV2(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  std::vector<int64_t> axes;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &axes));
  const TensorView& input = *context.input(0);
  int64_t strides[kMaxRank] = {};
  ContiguousStrides(input.shape, ElementBytes(input), strides);
  bool reversed[kMaxRank] = {};
  int64_t offset = 0;
  for (int64_t value : axes) {
    int axis = 0;
    TW_RETURN_IF_ERROR(NormalizeAxis(context, value, input.shape.rank(), "axis", &axis));
    if (reversed[axis]) {
      return InvalidModel("%s: axis %d is listed twice", context.Where().c_str(), axis);
    }
    reversed[axis] = true;
    offset += (input.shape.dim(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(ElementBytes(input));
  copy->set_src_offset(offset);
  return SetStridedOutput(context, copy, input.shape, strides);
}

}  // namespace

extern const OpDef kOpReverseV2;
const OpDef kOpReverseV2 = {OpCode::kReverseV2, "REVERSE_V2",  81, 4, nullptr,
                            PrepareReverseV2,   RunStridedCopy};

}  // namespace topwork
