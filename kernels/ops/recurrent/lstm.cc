// LSTM (one step) and UNIDIRECTIONAL_SEQUENCE_LSTM: chooses the form that the inputs ask for.
// float32 data with float32 or 8-bit weights, or int8 data and weights with an int16 cell state.
// LSTM's kernel_type BASIC has inputs of its own (lstm_basic.cc).
#include "kernels/ops/recurrent/lstm.h"

#include "kernels/contract/kernel.h"

namespace topwork {
namespace {

struct LstmState : OpState {
  LstmCell cell;
};

Status ParseLstm(const OptionsView& options, OpParams* params) {
  const int8_t kernel = options.Byte(3, 0);
  if (kernel != 0 && kernel != 1) {
    return InvalidModel("kernel_type {} does not exist (0 FULL, 1 BASIC)", kernel);
  }
  params->mode = static_cast<uint8_t>(kernel);
  params->cell_clip = options.Float(1, 0.0f);
  params->proj_clip = options.Float(2, 0.0f);
  params->asymmetric_quantize_inputs = options.Bool(4, false);
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

// diagonal_recurrent_tensors (field 5) says what the weights' rank says, too.
Status ParseSequence(const OptionsView& options, OpParams* params) {
  params->cell_clip = options.Float(1, 0.0f);
  params->proj_clip = options.Float(2, 0.0f);
  params->time_major = options.Bool(3, false);
  params->asymmetric_quantize_inputs = options.Bool(4, false);
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status PrepareFull(PrepareContext& context, bool sequence) {
  if (context.n_inputs() != 20 && context.n_inputs() != 24) {
    return InvalidModel("{} has {} inputs, 20 or 24 expected (left-out ones counted)",
                        context.Where(), context.n_inputs());
  }
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 24));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt8}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, sequence ? 3 : 2, sequence ? 3 : 2));
  const LstmInputs inputs;
  LstmShape shape;
  const DType data = context.input(0)->dtype;
  const Sequence steps = SequenceOf(context, 0, context.params().time_major);
  TW_RETURN_IF_ERROR(
      CheckLstm(context, inputs, sequence && data == DType::kFloat32, steps, &shape));
  Shape out = context.input(0)->shape;
  out.set_dim(out.rank() - 1, static_cast<int32_t>(shape.n_output));
  TW_RETURN_IF_ERROR(context.SetOutput(0, data, out));
  if (data == DType::kInt8) return PrepareInt8Lstm(&context, inputs, shape);
  LstmState* state = context.NewState<LstmState>();
  ScratchLayout scratch;
  TW_RETURN_IF_ERROR(PlanLstm(&context, inputs, shape, &scratch, &state->cell));
  context.SetVariant(state->cell.arithmetic == CellArithmetic::kFloat ? "float" : "dynamic range");
  return scratch.Request(&context);
}

Status PrepareLstm(PrepareContext& context) {
  return context.params().mode == 1 ? PrepareBasicLstm(&context) : PrepareFull(context, false);
}
Status PrepareSequence(PrepareContext& context) { return PrepareFull(context, true); }

Status RunFull(const RunContext& context) {
  if (context.in(0).dtype == DType::kInt8) return RunInt8Lstm(context);
  const LstmCell& cell = context.get_state<LstmState>().cell;
  RunLstm(context, cell, false, context.output_data<float>(0), cell.shape.n_output);
  return Status::Ok();
}

Status RunEither(const RunContext& context) {
  return context.params->mode == 1 ? RunBasicLstm(context) : RunFull(context);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kLstm)
        .Versions(4)
        .Types({DType::kFloat32, DType::kUInt8, DType::kInt8})
        .Options(OptionsType::kLSTM, ParseLstm)
        .Cpu(PrepareLstm, RunEither),
    OpDef(OpCode::kUnidirectionalSequenceLstm)
        .Versions(4)
        .Types({DType::kFloat32, DType::kInt8})
        .Options(OptionsType::kUnidirectionalSequenceLSTM, ParseSequence)
        .Cpu(PrepareSequence, RunFull),
};

Span<const OpDef> LstmOps() { return Selected<kOps>(); }

}  // namespace topwork
