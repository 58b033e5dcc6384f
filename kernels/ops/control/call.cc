// CALL: runs a subgraph in its place. The planner takes most calls apart (inline_calls); what is
// left comes here.
#include "kernels/ops/control/subgraph_call.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status Run(const RunContext& context) { return RunOneCall(context, 0, 0); }

}  // namespace

extern const OpDef kOpCall;
const OpDef kOpCall = {OpCode::kCall, "CALL", 16, 1, Parse, Prepare, Run};

}  // namespace topwork
