// CALL, CALL_ONCE and STABLEHLO_COMPOSITE: a subgraph in the place of the operator.
#include "kernels/ops/control/subgraph_call.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

// CALL: runs a subgraph in its place. The planner replaces most calls by their operators
// (inline_calls); the others come here.

Status ParseCall(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  return Status::Ok();
}

Status PrepareCall(PrepareContext& context) {
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status RunCall(const RunContext& context) { return RunOneCall(context, 0, 0); }

// CALL_ONCE: runs a subgraph without inputs and outputs, for its effects on resources, at the first
// run of a session's state.

Status ParseCallOnce(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  return Status::Ok();
}

Status PrepareCallOnce(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(0, 0));
  TW_RETURN_IF_ERROR(context.CheckOutputs(0));
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status RunCallOnce(const RunContext& context) {
  if (context.resources->IsInitialized(context.params->subgraph)) return Status::Ok();
  TW_RETURN_IF_ERROR(context.calls->Call(0, {}, {}));
  context.resources->SetInitialized(context.params->subgraph);
  return Status::Ok();
}

// STABLEHLO_COMPOSITE: an operator of another set, with a subgraph that computes the same from
// builtin operators. The subgraph runs.

Status ParseStablehloComposite(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->custom_name = TextOption(options, 0);
  params->subgraph = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareStablehloComposite(PrepareContext& context) {
  return PrepareOneCall(context, context.params().subgraph, 0);
}

Status RunStablehloComposite(const RunContext& context) { return RunOneCall(context, 0, 0); }

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCall)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64})
        .Options(OptionsType::kCall, ParseCall)
        .Cpu(PrepareCall, RunCall)
        .Effects(),
    OpDef(OpCode::kCallOnce)
        .Types({DType::kResource})
        .Options(OptionsType::kCallOnce, ParseCallOnce)
        .Cpu(PrepareCallOnce, RunCallOnce)
        .Effects(),
    OpDef(OpCode::kStablehloComposite)
        .Types({DType::kFloat32})
        .Options(OptionsType2::kStableHLOComposite, ParseStablehloComposite)
        .Cpu(PrepareStablehloComposite, RunStablehloComposite)
        .Effects(),
};

Span<const OpDef> CallOps() { return Selected<kOps>(); }

}  // namespace topwork
