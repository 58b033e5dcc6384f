// STABLEHLO_CASE: input 0, one int32, says which of the branches the other inputs go to; a number
// that is none's means the last. As IF has it: a number known at plan time leaves one branch,
// branches whose outputs have the same shapes run as planned, anything else finds its shapes while
// running.
#include "kernels/ops/control/subgraph_call.h"

namespace topwork {
namespace {

struct CaseState final : OpState {
  bool decided = false;  // one callee only
  int n_branches = 0;
};

Status Parse(const OptionsView& options, OpParams* params) {
  params->branches = options.IntVector(0);
  if (params->branches.empty()) return InvalidModel("its options name no branches");
  for (const int32_t branch : params->branches) {
    if (branch < 0) return InvalidModel("its options name the subgraph %d", branch);
  }
  return Status::Ok();
}

int Chosen(int32_t index, int n_branches) {
  return index >= 0 && index < n_branches ? index : n_branches - 1;
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, INT32_MAX));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32}));
  const TensorView& index = *context.input(0);
  if (index.shape.NumElements() != 1) {
    return InvalidModel("%s: %s has shape %s, one element expected", context.Where().c_str(),
                        context.InputName(0).c_str(), index.shape.ToString().c_str());
  }
  CaseState* const state = context.NewState<CaseState>();
  const Span<const int32_t> branches = context.params().branches;
  state->n_branches = static_cast<int>(branches.size());
  state->decided = index.data != nullptr;
  if (state->decided) {
    const int chosen = Chosen(*index.as<const int32_t>(), state->n_branches);
    return PrepareOneCall(context, branches[static_cast<size_t>(chosen)], 1);
  }
  return PrepareCalls(context, branches, 1);
}

Status Run(const RunContext& context) {
  const CaseState& state = context.get_state<CaseState>();
  const int32_t index = *context.input_data<int32_t>(0);
  return RunOneCall(context, state.decided ? 0 : Chosen(index, state.n_branches), 1);
}

}  // namespace

extern const OpDef kOpStablehloCase;
const OpDef kOpStablehloCase = {
    OpCode::kStablehloCase, "STABLEHLO_CASE", 0, 1, Parse, Prepare, Run};

}  // namespace topwork
