// SPLIT: cuts input 1 into num_splits equal parts along the axis in input 0.
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParseSplit(const OptionsView& options, OpParams* params) {
  params->num_splits = options.Int(0, 0);
  return Status::Ok();
}

Status PrepareSplitOp(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(CheckMovable(context, 1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  const int parts = context.n_outputs();
  if (parts < 1 || context.params().num_splits != parts) {
    return InvalidModel("%s: num_splits is %d but there are %d outputs", context.Where().c_str(),
                        context.params().num_splits, parts);
  }
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 0, &value));
  const Shape& shape = context.input(1)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, shape.rank(), "axis", &axis));
  if (shape.dim(axis) % parts != 0) {
    return InvalidModel("%s: dimension %d of %s does not divide into %d equal parts",
                        context.Where().c_str(), axis, shape.ToString().c_str(), parts);
  }
  const std::vector<int64_t> sizes(static_cast<size_t>(parts), shape.dim(axis) / parts);
  return PrepareSplit(context, 1, axis, sizes);
}

}  // namespace

extern const OpDef kOpSplit;
const OpDef kOpSplit = {OpCode::kSplit, "SPLIT",        35, 5, ParseSplit,
                        PrepareSplitOp, RunSplitRows<1>};

}  // namespace topwork
