// BIDIRECTIONAL_SEQUENCE_LSTM: two cells, one of which walks from the last step to the first.
//
// Input 39 is an auxiliary sequence for both cells where there are weights for it; otherwise the
// backward cell reads it in place of input 0. With merge_outputs both cells write into one output,
// the forward cell's values first; else each cell has its own output.
#include "kernels/contract/kernel.h"
#include "kernels/ops/recurrent/lstm.h"

namespace topwork {
namespace {

constexpr int kAux = 39;

struct BidirectionalState : OpState {
  LstmCell cells[2];
};

LstmInputs InputsOf(bool backward) {
  LstmInputs inputs;
  for (int gate = 0; gate < kNumLstmGates; ++gate) {
    const int first = backward ? 17 : 0;
    inputs.input_weights[gate] += first;
    inputs.recurrent_weights[gate] += first;
    if (inputs.peephole[gate] >= 0) inputs.peephole[gate] += first;
    inputs.bias[gate] += first;
    inputs.aux_weights[gate] = (backward ? 44 : 40) + gate;
    inputs.norm[gate] = -1;
  }
  inputs.projection = backward ? 33 : 16;
  inputs.projection_bias = backward ? 34 : 17;
  inputs.output_state = backward ? 37 : 35;
  inputs.cell_state = backward ? 38 : 36;
  inputs.aux = kAux;
  return inputs;
}

Status Parse(const OptionsView& options, OpParams* params) {
  params->cell_clip = options.Float(1, 0.0f);
  params->proj_clip = options.Float(2, 0.0f);
  params->merge_outputs = options.Bool(3, false);
  params->time_major = options.Bool(4, true);
  params->asymmetric_quantize_inputs = options.Bool(5, false);
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status SetOutputs(PrepareContext* context, const LstmCell (&cells)[2]) {
  Shape out = context->input(0)->shape;
  const int64_t forward = cells[0].shape.n_output, backward = cells[1].shape.n_output;
  if (context->params().merge_outputs) {
    out.set_dim(2, static_cast<int32_t>(forward + backward));
    return context->SetOutput(0, DType::kFloat32, out);
  }
  out.set_dim(2, static_cast<int32_t>(forward));
  TW_RETURN_IF_ERROR(context->SetOutput(0, DType::kFloat32, out));
  out.set_dim(2, static_cast<int32_t>(backward));
  return context->SetOutput(1, DType::kFloat32, out);
}

Status Prepare(PrepareContext& context) {
  if (context.n_inputs() != 48) {
    return InvalidModel("{} has {} inputs, 48 expected (left-out ones counted)", context.Where(),
                        context.n_inputs());
  }
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 48));
  TW_RETURN_IF_ERROR(context.CheckOutputs(context.params().merge_outputs ? 1 : 2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  const Sequence sequence = SequenceOf(context, 0, context.params().time_major);
  const int weights[2] = {InputsOf(false).aux_weights[kForgetGate],
                          InputsOf(true).aux_weights[kForgetGate]};
  TW_RETURN_IF_ERROR(CheckAuxiliary(context, kAux, weights));
  const bool aux_is_input = context.input(kAux) != nullptr && context.input(weights[0]) == nullptr;
  BidirectionalState* state = context.NewState<BidirectionalState>();
  ScratchLayout scratch;
  for (const bool backward : {false, true}) {
    LstmInputs inputs = InputsOf(backward);
    if (backward && aux_is_input) inputs.input = kAux;
    LstmShape shape;
    TW_RETURN_IF_ERROR(CheckLstm(context, inputs, false, sequence, &shape));
    TW_RETURN_IF_ERROR(
        PlanLstm(&context, inputs, shape, &scratch, &state->cells[backward ? 1 : 0]));
  }
  const bool floats = state->cells[0].arithmetic == CellArithmetic::kFloat;
  context.SetVariant(floats ? "float" : "dynamic range");
  TW_RETURN_IF_ERROR(SetOutputs(&context, state->cells));
  return scratch.Request(&context);
}

Status Run(const RunContext& context) {
  const BidirectionalState& state = context.get_state<BidirectionalState>();
  const int64_t forward = state.cells[0].shape.n_output;
  const int64_t backward = state.cells[1].shape.n_output;
  const bool merge = context.params->merge_outputs;
  RunLstm(context, state.cells[0], false, context.output_data<float>(0),
          merge ? forward + backward : forward);
  float* out = merge ? context.output_data<float>(0) + forward : context.output_data<float>(1);
  RunLstm(context, state.cells[1], true, out, merge ? forward + backward : backward);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kBidirectionalSequenceLstm)
        .Versions(3)
        .Types({DType::kFloat32})
        .Options(OptionsType::kBidirectionalSequenceLSTM, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> BidirectionalSequenceLstmOps() { return Selected<kOps>(); }

}  // namespace topwork
