// CALL_ONCE: runs a subgraph without inputs and outputs, for its effects on resources, at the first
// run of a session's state.
#include "kernels/ops/control/subgraph_call.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status Run(const RunContext& context) {
  if (context.resources->IsInitialized(context.params->subgraph)) return Status::Ok();
  TW_RETURN_IF_ERROR(context.calls->Call(0, {}, {}));
  context.resources->SetInitialized(context.params->subgraph);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpCallOnce;
const OpDef kOpCallOnce = {OpCode::kCallOnce, "CALL_ONCE", 103, 1, Parse, Prepare, Run};

}  // namespace topwork
