// EXPAND_DIMS: inserts a dimension of size 1 before `axis` (input 1; −1 is after the last one).
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareExpandDims(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckSized(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &value));
  const Shape& from = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, from.rank() + 1, "axis", &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, from.rank() + 1));
  Shape shape;
  for (int d = 0; d <= from.rank(); ++d) {
    shape.Append(d == axis ? 1 : from.dim(d < axis ? d : d - 1));
  }
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, shape);
}

}  // namespace

extern const OpDef kOpExpandDims;
const OpDef kOpExpandDims = {OpCode::kExpandDims, "EXPAND_DIMS", 52, 1, nullptr,
                             PrepareExpandDims,   RunByteCopy};

}  // namespace topwork
