// IF: input 0, one bool, chooses the subgraph that the other inputs go to. A condition known at
// plan time leaves one branch; two branches whose outputs have the same shapes run as planned;
// anything else finds its shapes while running.
#include "kernels/ops/control/subgraph_call.h"

namespace topwork {
namespace {

struct IfState final : OpState {
  bool decided = false;  // one callee only
};

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  params->else_subgraph = options.Int(1, 0);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, INT32_MAX));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  const TensorView& condition = *context.input(0);
  if (condition.shape.NumElements() != 1) {
    return InvalidModel("%s: %s has shape %s, one element expected", context.Where().c_str(),
                        context.InputName(0).c_str(), condition.shape.ToString().c_str());
  }
  IfState* const state = context.NewState<IfState>();
  const OpParams& params = context.params();
  state->decided = condition.data != nullptr;
  if (state->decided) {
    const bool value = *condition.as<const uint8_t>() != 0;
    return PrepareOneCall(context, value ? params.subgraph : params.else_subgraph, 1);
  }
  const int32_t branches[] = {params.subgraph, params.else_subgraph};
  return PrepareCalls(context, {branches, 2}, 1);
}

Status Run(const RunContext& context) {
  const bool yes = context.get_state<IfState>().decided || *context.input_data<uint8_t>(0) != 0;
  return RunOneCall(context, yes ? 0 : 1, 1);
}

}  // namespace

extern const OpDef kOpIf;
const OpDef kOpIf = {OpCode::kIf, "IF", 92, 1, Parse, Prepare, Run};

}  // namespace topwork
