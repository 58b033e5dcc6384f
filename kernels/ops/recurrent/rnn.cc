// RNN (one step), UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN on float32 data with
// float32 or dynamic-range weights:
//   h = act(W_x x + W_a a + W_h h + b)
// The sums are made in the output's rows. In the bidirectional form an auxiliary sequence without
// weights is what the backward cell reads in place of input 0.
#include <cstring>

#include "kernels/contract/kernel.h"
#include "kernels/ops/recurrent/recurrent.h"

namespace topwork {
namespace {

// Positions among the operator's inputs; −1: none.
struct RnnInputs {
  int input = 0, weights = 1, recurrent = 2, bias = 3, state = 4, aux = -1, aux_weights = -1;
};

struct RnnCell {
  RnnInputs inputs;
  Sequence sequence;
  int64_t n_units = 0, n_aux = 0;
  CellArithmetic arithmetic = CellArithmetic::kFloat;
  CellMatrix weights, recurrent, aux_weights;
  CellRowsPlan input_rows, state_rows, aux_rows;
};

struct RnnState : OpState {
  RnnCell cells[2];
};

Status ParseStep(const OptionsView& options, OpParams* params) {
  params->asymmetric_quantize_inputs = options.Bool(1, false);
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status ParseSequence(const OptionsView& options, OpParams* params) {
  params->time_major = options.Bool(0, false);
  params->asymmetric_quantize_inputs = options.Bool(2, false);
  return ParseActivation(options.Byte(1, 0), &params->activation);
}

Status ParseBidirectional(const OptionsView& options, OpParams* params) {
  params->time_major = options.Bool(0, false);
  params->merge_outputs = options.Bool(2, false);
  params->asymmetric_quantize_inputs = options.Bool(3, false);
  return ParseActivation(options.Byte(1, 0), &params->activation);
}

Status CheckCell(const PrepareContext& context, RnnCell* cell) {
  const RnnInputs& in = cell->inputs;
  TW_RETURN_IF_ERROR(context.CheckRank(in.weights, 2, 2));
  const Shape& weights = context.input(in.weights)->shape;
  cell->n_units = weights[0];
  const int32_t units = weights[0];
  if (units < 1 || cell->sequence.depth < 1) {
    return context.Invalid("{} has shape {}, no dimension may be 0", context.InputName(in.weights),
                           weights.ToString());
  }
  TW_RETURN_IF_ERROR(CheckCellShape(context, in.weights,
                                    Shape{units, static_cast<int32_t>(cell->sequence.depth)}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, in.recurrent, Shape{units, units}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, in.bias, Shape{units}));
  TW_RETURN_IF_ERROR(context.CheckDType(in.bias, {DType::kFloat32}));
  const DType type = context.input(in.weights)->dtype;
  TW_RETURN_IF_ERROR(context.CheckDType(in.recurrent, {type}));
  TW_RETURN_IF_ERROR(
      CheckState(context, in.state, DType::kFloat32, cell->sequence.batch * cell->n_units));
  if (in.aux_weights < 0) return Status::Ok();
  TW_RETURN_IF_ERROR(context.CheckDType(in.aux_weights, {type}));
  return CheckCellShape(context, in.aux_weights, Shape{units, static_cast<int32_t>(cell->n_aux)});
}

Status PlanCell(PrepareContext* context, ScratchLayout* scratch, RnnCell* cell) {
  TW_RETURN_IF_ERROR(CheckCell(*context, cell));
  const RnnInputs& in = cell->inputs;
  const bool floats = context->input(in.weights)->dtype == DType::kFloat32;
  const CellArithmetic kind = floats ? CellArithmetic::kFloat : CellArithmetic::kDynamicRange;
  cell->arithmetic = kind;
  TW_RETURN_IF_ERROR(PlanCellMatrix(context, in.weights, kind, scratch, &cell->weights));
  TW_RETURN_IF_ERROR(PlanCellMatrix(context, in.recurrent, kind, scratch, &cell->recurrent));
  const Sequence& sequence = cell->sequence;
  PlanCellRows(*context, kind, sequence.rows(), sequence.depth, scratch, &cell->input_rows);
  PlanCellRows(*context, kind, sequence.batch, cell->n_units, scratch, &cell->state_rows);
  context->SetVariant(floats ? "float" : "dynamic range");
  if (in.aux_weights < 0) return Status::Ok();
  TW_RETURN_IF_ERROR(PlanCellMatrix(context, in.aux_weights, kind, scratch, &cell->aux_weights));
  PlanCellRows(*context, kind, sequence.rows(), cell->n_aux, scratch, &cell->aux_rows);
  return Status::Ok();
}

Status PrepareOne(PrepareContext& context, int rank) {
  TW_RETURN_IF_ERROR(context.CheckInputs(5, 5));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, rank, rank));
  RnnState* state = context.NewState<RnnState>();
  ScratchLayout scratch;
  RnnCell* cell = &state->cells[0];
  cell->sequence = SequenceOf(context, 0, context.params().time_major);
  TW_RETURN_IF_ERROR(PlanCell(&context, &scratch, cell));
  Shape out = context.input(0)->shape;
  out.set_dim(rank - 1, static_cast<int32_t>(cell->n_units));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kFloat32, out));
  return scratch.Request(&context);
}
Status PrepareStep(PrepareContext& context) { return PrepareOne(context, 2); }
Status PrepareSequence(PrepareContext& context) { return PrepareOne(context, 3); }

// The inputs of both cells. Without weights the auxiliary input is that of the backward cell.
Status FindInputs(const PrepareContext& context, RnnCell (&cells)[2]) {
  constexpr int kAux = 9, kWeights[2] = {10, 11};
  TW_RETURN_IF_ERROR(CheckAuxiliary(context, kAux, kWeights));
  cells[1].inputs = {0, 5, 6, 7, 8, -1, -1};
  const TensorView* aux = context.input(kAux);
  if (aux == nullptr) return Status::Ok();
  if (context.input(kWeights[0]) == nullptr) {
    cells[1].inputs.input = kAux;
    return Status::Ok();
  }
  for (int d = 0; d < 2; ++d) {
    cells[d].inputs.aux = kAux;
    cells[d].inputs.aux_weights = kWeights[d];
    cells[d].n_aux = aux->shape[2];
  }
  return Status::Ok();
}

Status PrepareBidirectional(PrepareContext& context) {
  if (context.n_inputs() != 12) {
    return InvalidModel("{} has {} inputs, 12 expected (left-out ones counted)", context.Where(),
                        context.n_inputs());
  }
  const bool merge = context.params().merge_outputs;
  TW_RETURN_IF_ERROR(context.CheckInputs(9, 12));
  TW_RETURN_IF_ERROR(context.CheckOutputs(merge ? 1 : 2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  RnnState* state = context.NewState<RnnState>();
  TW_RETURN_IF_ERROR(FindInputs(context, state->cells));
  ScratchLayout scratch;
  for (RnnCell& cell : state->cells) {
    cell.sequence = SequenceOf(context, 0, context.params().time_major);
    TW_RETURN_IF_ERROR(PlanCell(&context, &scratch, &cell));
  }
  TW_RETURN_IF_ERROR(context.CheckDType(state->cells[1].inputs.weights, {context.input(1)->dtype}));
  Shape out = context.input(0)->shape;
  const int64_t units[2] = {state->cells[0].n_units, state->cells[1].n_units};
  for (int d = 0; d < (merge ? 1 : 2); ++d) {
    out.set_dim(2, static_cast<int32_t>(merge ? units[0] + units[1] : units[d]));
    TW_RETURN_IF_ERROR(context.SetOutput(d, DType::kFloat32, out));
  }
  return scratch.Request(&context);
}

// h of row r goes to output + r * ld.
void RunCell(const RunContext& context, const RnnCell& cell, bool backward, float* output,
             int64_t ld) {
  const Sequence& sequence = cell.sequence;
  if (sequence.rows() == 0) return;
  const RnnInputs& in = cell.inputs;
  for (const CellMatrix* matrix : {&cell.weights, &cell.recurrent, &cell.aux_weights}) {
    BeginCellMatrix(context, *matrix);
  }
  const CellRows x =
      MakeCellRows(context, cell.input_rows, cell.arithmetic, context.input_data<float>(in.input),
                   sequence.rows(), sequence.depth);
  MultiplyCell(context, cell.weights, x, context.input_data<float>(in.bias), false, output, ld);
  if (cell.aux_weights.present()) {
    const CellRows aux =
        MakeCellRows(context, cell.aux_rows, cell.arithmetic, context.input_data<float>(in.aux),
                     sequence.rows(), cell.n_aux);
    MultiplyCell(context, cell.aux_weights, aux, nullptr, true, output, ld);
  }
  float* h = StateOf<float>(context, in.state);
  for (int64_t at = 0; at < sequence.time; ++at) {
    float* step = output + sequence.FirstRow(backward ? sequence.time - 1 - at : at) * ld;
    const int64_t next = sequence.RowStep() * ld;
    const CellRows rows =
        MakeCellRows(context, cell.state_rows, cell.arithmetic, h, sequence.batch, cell.n_units);
    MultiplyCell(context, cell.recurrent, rows, nullptr, true, step, next);
    for (int64_t b = 0; b < sequence.batch; ++b) {
      ApplyCellActivation(context, context.params->activation, step + b * next, cell.n_units);
      std::memcpy(h + b * cell.n_units, step + b * next,
                  static_cast<size_t>(cell.n_units) * sizeof(float));
    }
  }
}

Status RunOne(const RunContext& context) {
  const RnnCell& cell = context.get_state<RnnState>().cells[0];
  RunCell(context, cell, false, context.output_data<float>(0), cell.n_units);
  return Status::Ok();
}

Status RunBidirectional(const RunContext& context) {
  const RnnState& state = context.get_state<RnnState>();
  const int64_t forward = state.cells[0].n_units, backward = state.cells[1].n_units;
  const bool merge = context.params->merge_outputs;
  float* out = context.output_data<float>(0);
  RunCell(context, state.cells[0], false, out, merge ? forward + backward : forward);
  RunCell(context, state.cells[1], true, merge ? out + forward : context.output_data<float>(1),
          merge ? forward + backward : backward);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kRnn)
        .Versions(3)
        .Types({DType::kFloat32})
        .Options(OptionsType::kRNN, ParseStep)
        .Cpu(PrepareStep, RunOne),
    OpDef(OpCode::kUnidirectionalSequenceRnn)
        .Versions(3)
        .Types({DType::kFloat32})
        .Options(OptionsType::kSequenceRNN, ParseSequence)
        .Cpu(PrepareSequence, RunOne),
    OpDef(OpCode::kBidirectionalSequenceRnn)
        .Versions(3)
        .Types({DType::kFloat32})
        .Options(OptionsType::kBidirectionalSequenceRNN, ParseBidirectional)
        .Cpu(PrepareBidirectional, RunBidirectional),
};

Span<const OpDef> RnnOps() { return Selected<kOps>(); }

}  // namespace topwork
