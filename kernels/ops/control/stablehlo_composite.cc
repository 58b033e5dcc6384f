// STABLEHLO_COMPOSITE: an operator of another set, with a subgraph that computes the same from
// builtin operators: that is what runs.
#include "kernels/ops/control/subgraph_call.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->custom_name = TextOption(options, 0);
  params->subgraph = options.Int(1, 0);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status Run(const RunContext& context) { return RunOneCall(context, 0, 0); }

}  // namespace

extern const OpDef kOpStablehloComposite;
const OpDef kOpStablehloComposite = {
    OpCode::kStablehloComposite, "STABLEHLO_COMPOSITE", 0, 1, Parse, Prepare, Run};

}  // namespace topwork
