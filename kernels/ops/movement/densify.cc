// DENSIFY: a sparse constant as a dense one. Constants are expanded when the model is opened, so
// the result is the input itself, and the planner folds it away.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareDensify(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kFloat16, DType::kInt8}));
  TW_RETURN_IF_ERROR(context.NeedValue(0));
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
}

}  // namespace

extern const OpDef kOpDensify;
const OpDef kOpDensify = {OpCode::kDensify, "DENSIFY", 99, 1, nullptr, PrepareDensify, RunByteCopy};

}  // namespace topwork
