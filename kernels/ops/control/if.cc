// IF and STABLEHLO_CASE: a value chooses the subgraph.
#include "kernels/ops/control/subgraph_call.h"

namespace topwork {
namespace {

// IF: input 0, one bool, chooses the subgraph that the other inputs go to. A condition known at
// plan time leaves one branch; two branches whose outputs have the same shapes run as planned;
// anything else finds its shapes while running.

struct IfState final : OpState {
  bool decided = false;  // one callee only
};

Status ParseIf(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  params->else_subgraph = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareIf(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, INT32_MAX));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  const TensorView& condition = *context.input(0);
  if (condition.shape.NumElements() != 1) {
    return context.Invalid("{} has shape {}, one element expected", context.InputName(0),
                           condition.shape.ToString());
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

Status RunIf(const RunContext& context) {
  const bool yes = context.get_state<IfState>().decided || *context.input_data<uint8_t>(0) != 0;
  return RunOneCall(context, yes ? 0 : 1, 1);
}

// STABLEHLO_CASE: input 0, one int32, names the branch that the other inputs go to; a number
// without a branch means the last. As with IF, a number known at plan time leaves one branch,
// branches whose outputs have the same shapes run as planned, and anything else finds its shapes
// while running.

struct CaseState final : OpState {
  bool decided = false;  // one callee only
  int n_branches = 0;
};

Status ParseStablehloCase(const OptionsView& options, OpParams* params) {
  params->branches = options.IntVector(0);
  if (params->branches.empty()) return InvalidModel("its options name no branches");
  for (const int32_t branch : params->branches) {
    if (branch < 0) return InvalidModel("its options name the subgraph {}", branch);
  }
  return Status::Ok();
}

int Chosen(int32_t index, int n_branches) {
  return index >= 0 && index < n_branches ? index : n_branches - 1;
}

Status PrepareStablehloCase(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, INT32_MAX));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32}));
  const TensorView& index = *context.input(0);
  if (index.shape.NumElements() != 1) {
    return context.Invalid("{} has shape {}, one element expected", context.InputName(0),
                           index.shape.ToString());
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

Status RunStablehloCase(const RunContext& context) {
  const CaseState& state = context.get_state<CaseState>();
  const int32_t index = *context.input_data<int32_t>(0);
  return RunOneCall(context, state.decided ? 0 : Chosen(index, state.n_branches), 1);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kIf)
        .Types({DType::kBool})
        .Options(OptionsType::kIf, ParseIf)
        .Cpu(PrepareIf, RunIf)
        .Effects(),
    OpDef(OpCode::kStablehloCase)
        .Types({DType::kFloat32, DType::kInt32})
        .DataInput(1)
        .Options(OptionsType2::kStablehloCase, ParseStablehloCase)
        .Cpu(PrepareStablehloCase, RunStablehloCase)
        .Effects(),
};

Span<const OpDef> IfOps() { return Selected<kOps>(); }

}  // namespace topwork
