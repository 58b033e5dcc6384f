// Float and dynamic-range LSTM cells (see lstm.h).
//
// The gates' sums lie in one row for every row of the sequence, [input] forget output cell, so that
// one call computes the logistic function of all gates that need it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/recurrent/lstm.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

struct Slots {
  int64_t n_gates, width;
  int64_t at[kNumLstmGates];
};

Slots SlotsOf(const LstmShape& shape) {
  Slots s;
  int64_t n = 0;
  s.at[kInputGate] = 0;
  if (!shape.cifg) n += shape.n_cell;
  for (int gate : {kForgetGate, kOutputGate, kCellGate}) {
    s.at[gate] = n;
    n += shape.n_cell;
  }
  s.n_gates = n / shape.n_cell;
  s.width = n;
  return s;
}

// Computes the part of all gates' sums, for all steps, that depends on the sequences alone.
void AddInputs(const RunContext& context, const LstmCell& cell, const Slots& slots, float* gates) {
  const LstmShape& shape = cell.shape;
  const int64_t m = shape.sequence.rows();
  const CellRows x = MakeCellRows(context, cell.input_rows, cell.arithmetic,
                                  context.input_data<float>(cell.inputs.input), m, shape.n_input);
  CellRows aux;
  if (shape.aux) {
    aux = MakeCellRows(context, cell.aux_rows, cell.arithmetic,
                       context.input_data<float>(cell.inputs.aux), m, shape.n_aux);
  }
  for (int gate = shape.cifg ? kForgetGate : kInputGate; gate < kNumLstmGates; ++gate) {
    const float* bias = shape.norm ? nullptr : context.input_data<float>(cell.inputs.bias[gate]);
    float* sums = gates + slots.at[gate];
    MultiplyCell(context, cell.input_weights[gate], x, bias, false, sums, slots.width);
    if (!shape.aux) continue;
    MultiplyCell(context, cell.aux_weights[gate], aux, nullptr, true, sums, slots.width);
  }
}

// One step of one batch: what belongs to row `gates`.
class RowStep {
 public:
  RowStep(const RunContext& context, const LstmCell& cell, const Slots& slots)
      : context_(context), cell_(cell), slots_(slots), n_(cell.shape.n_cell) {}

  // Updates c and leaves o act(c) in hidden.
  void Run(float* gates, float* c, float* hidden) const {
    const OpParams& params = *context_.params;
    const LstmShape& shape = cell_.shape;
    if (!shape.cifg) Finish(kInputGate, c, gates);
    Finish(kForgetGate, c, gates);
    Finish(kCellGate, c, gates);
    float* output = gates + slots_.at[kOutputGate];
    if (!shape.peephole) Finish(kOutputGate, c, gates);
    // The output gate's sum lies after those of the input and forget gates.
    Logistic(gates, slots_.at[kOutputGate] + (shape.peephole ? 0 : n_));
    float* g = gates + slots_.at[kCellGate];
    ApplyCellActivation(context_, params.activation, g, n_);
    const float* f = gates + slots_.at[kForgetGate];
    const float* i = gates + slots_.at[kInputGate];
    for (int64_t k = 0; k < n_; ++k) {
      const float input = shape.cifg ? 1.0f - f[k] : i[k];
      c[k] = f[k] * c[k] + input * g[k];
    }
    Clip(params.cell_clip, c, n_);
    if (shape.peephole) {
      Finish(kOutputGate, c, gates);
      Logistic(output, n_);
    }
    if (hidden != c) std::memcpy(hidden, c, static_cast<size_t>(n_) * sizeof(float));
    ApplyCellActivation(context_, params.activation, hidden, n_);
    for (int64_t k = 0; k < n_; ++k) hidden[k] *= output[k];
  }

  static void Clip(float limit, float* x, int64_t n) {
    if (limit <= 0.0f) return;
    for (int64_t k = 0; k < n; ++k) x[k] = std::max(-limit, std::min(limit, x[k]));
  }

 private:
  void Logistic(float* x, int64_t n) const {
    context_.cpu->elementwise->unary[static_cast<int>(UnaryFn::kLogistic)](x, x, n, 0.0f);
  }

  // What the cell's state adds to a gate's sum, and layer normalization.
  void Finish(int gate, const float* c, float* gates) const {
    float* sums = gates + slots_.at[gate];
    if (cell_.shape.peephole && gate != kCellGate) {
      const float* weights = PeepholeOf(gate);
      for (int64_t k = 0; k < n_; ++k) sums[k] += weights[k] * c[k];
    }
    if (!cell_.shape.norm) return;
    float mean = 0.0f, variance = 0.0f;
    for (int64_t k = 0; k < n_; ++k) mean += sums[k];
    mean /= static_cast<float>(n_);
    for (int64_t k = 0; k < n_; ++k) variance += (sums[k] - mean) * (sums[k] - mean);
    variance /= static_cast<float>(n_);
    const float inverse = 1.0f / std::sqrt(variance + 1e-8f);
    const float* norm = context_.input_data<float>(cell_.inputs.norm[gate]);
    const float* bias = context_.input_data<float>(cell_.inputs.bias[gate]);
    for (int64_t k = 0; k < n_; ++k) sums[k] = (sums[k] - mean) * inverse * norm[k] + bias[k];
  }

  const float* PeepholeOf(int gate) const {
    if (cell_.arithmetic == CellArithmetic::kFloat) {
      return context_.input_data<float>(cell_.inputs.peephole[gate]);
    }
    return reinterpret_cast<const float*>(context_.scratch + cell_.peephole_offset) + gate * n_;
  }

  const RunContext& context_;
  const LstmCell& cell_;
  const Slots& slots_;
  const int64_t n_;
};

// Packs weights that only a run knows, and makes real numbers of dynamic-range peephole weights.
void Begin(const RunContext& context, const LstmCell& cell) {
  for (int gate = 0; gate < kNumLstmGates; ++gate) {
    BeginCellMatrix(context, cell.input_weights[gate]);
    BeginCellMatrix(context, cell.aux_weights[gate]);
    BeginCellMatrix(context, cell.recurrent_weights[gate]);
    const int peephole = cell.inputs.peephole[gate];
    if (cell.arithmetic == CellArithmetic::kFloat || peephole < 0) continue;
    if (!context.has_input(peephole)) continue;
    float* out =
        reinterpret_cast<float*>(context.scratch + cell.peephole_offset) + gate * cell.shape.n_cell;
    context.cpu->elementwise->dequantize_i8(context.input_data<int8_t>(peephole), out,
                                            cell.shape.n_cell, ScaleOf(context.in(peephole)), 0);
  }
  BeginCellMatrix(context, cell.projection);
}

// Sums of step t that come from h.
void AddState(const RunContext& context, const LstmCell& cell, const Slots& slots, int64_t first,
              float* gates) {
  const LstmShape& shape = cell.shape;
  const float* h = StateOf<float>(context, cell.inputs.output_state);
  const int64_t batch = shape.sequence.batch;
  const int64_t ld = shape.sequence.RowStep() * slots.width;
  const CellRows rows =
      MakeCellRows(context, cell.state_rows, cell.arithmetic, h, batch, shape.n_output);
  for (int gate = shape.cifg ? kForgetGate : kInputGate; gate < kNumLstmGates; ++gate) {
    float* sums = gates + first * slots.width + slots.at[gate];
    if (!shape.diagonal[gate]) {
      MultiplyCell(context, cell.recurrent_weights[gate], rows, nullptr, true, sums, ld);
      continue;
    }
    const float* w = context.input_data<float>(cell.inputs.recurrent_weights[gate]);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t k = 0; k < shape.n_cell; ++k) sums[b * ld + k] += w[k] * h[b * shape.n_cell + k];
    }
  }
}

Status CheckPeepholeScales(const PrepareContext& context, const LstmInputs& inputs) {
  for (int gate : {kInputGate, kForgetGate, kOutputGate}) {
    const int i = inputs.peephole[gate];
    if (i < 0 || context.input(i) == nullptr) continue;
    const Quantization* q = context.input(i)->quantization;
    if (q != nullptr && q->scales.size() == 1) continue;
    return context.Invalid("{} needs exactly one scale", context.InputName(i));
  }
  return Status::Ok();
}

}  // namespace

Status PlanLstm(PrepareContext* context, const LstmInputs& inputs, const LstmShape& shape,
                ScratchLayout* scratch, LstmCell* cell) {
  cell->inputs = inputs;
  cell->shape = shape;
  const bool floats = context->input(inputs.input_weights[kOutputGate])->dtype == DType::kFloat32;
  const CellArithmetic kind = floats ? CellArithmetic::kFloat : CellArithmetic::kDynamicRange;
  cell->arithmetic = kind;
  for (int gate = shape.cifg ? kForgetGate : kInputGate; gate < kNumLstmGates; ++gate) {
    TW_RETURN_IF_ERROR(PlanCellMatrix(context, inputs.input_weights[gate], kind, scratch,
                                      &cell->input_weights[gate]));
    if (shape.aux) {
      TW_RETURN_IF_ERROR(PlanCellMatrix(context, inputs.aux_weights[gate], kind, scratch,
                                        &cell->aux_weights[gate]));
    }
    if (shape.diagonal[gate] && !floats) {
      return context->Unsupported("{} is a diagonal, which is defined for float32 weights only",
                                  context->InputName(inputs.recurrent_weights[gate]));
    }
    if (shape.diagonal[gate]) continue;
    TW_RETURN_IF_ERROR(PlanCellMatrix(context, inputs.recurrent_weights[gate], kind, scratch,
                                      &cell->recurrent_weights[gate]));
  }
  if (shape.projection) {
    TW_RETURN_IF_ERROR(
        PlanCellMatrix(context, inputs.projection, kind, scratch, &cell->projection));
  }
  if (!floats) TW_RETURN_IF_ERROR(CheckPeepholeScales(*context, inputs));
  const int64_t rows = shape.sequence.rows(), batch = shape.sequence.batch;
  PlanCellRows(*context, kind, rows, shape.n_input, scratch, &cell->input_rows);
  PlanCellRows(*context, kind, shape.aux ? rows : 0, shape.n_aux, scratch, &cell->aux_rows);
  PlanCellRows(*context, kind, batch, shape.n_output, scratch, &cell->state_rows);
  PlanCellRows(*context, kind, shape.projection ? batch : 0, shape.n_cell, scratch,
               &cell->hidden_rows);
  cell->gates_offset =
      scratch->AddSized(rows, sizeof(float) * static_cast<size_t>(SlotsOf(shape).width));
  cell->hidden_offset = scratch->Add(shape.projection ? batch * shape.n_cell : 0);
  cell->peephole_offset = scratch->Add(floats ? 0 : kNumLstmGates * shape.n_cell);
  return Status::Ok();
}

void RunLstm(const RunContext& context, const LstmCell& cell, bool backward, float* output,
             int64_t ld) {
  const LstmShape& shape = cell.shape;
  const Sequence& sequence = shape.sequence;
  if (sequence.rows() == 0) return;
  const Slots slots = SlotsOf(shape);
  const RowStep step(context, cell, slots);
  float* gates = reinterpret_cast<float*>(context.scratch + cell.gates_offset);
  float* h = StateOf<float>(context, cell.inputs.output_state);
  float* c = StateOf<float>(context, cell.inputs.cell_state);
  float* hidden =
      shape.projection ? reinterpret_cast<float*>(context.scratch + cell.hidden_offset) : h;
  Begin(context, cell);
  AddInputs(context, cell, slots, gates);
  const size_t h_bytes = static_cast<size_t>(shape.n_output) * sizeof(float);
  for (int64_t at = 0; at < sequence.time; ++at) {
    const int64_t first = sequence.FirstRow(backward ? sequence.time - 1 - at : at);
    AddState(context, cell, slots, first, gates);
    for (int64_t b = 0; b < sequence.batch; ++b) {
      const int64_t row = first + b * sequence.RowStep();
      step.Run(gates + row * slots.width, c + b * shape.n_cell, hidden + b * shape.n_cell);
    }
    if (shape.projection) {
      const CellRows rows = MakeCellRows(context, cell.hidden_rows, cell.arithmetic, hidden,
                                         sequence.batch, shape.n_cell);
      MultiplyCell(context, cell.projection, rows,
                   context.input_data<float>(cell.inputs.projection_bias), false, h,
                   shape.n_output);
      RowStep::Clip(context.params->proj_clip, h, sequence.batch * shape.n_output);
    }
    for (int64_t b = 0; b < sequence.batch; ++b) {
      std::memcpy(output + (first + b * sequence.RowStep()) * ld, h + b * shape.n_output, h_bytes);
    }
  }
}

}  // namespace topwork
