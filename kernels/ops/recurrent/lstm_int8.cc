// LSTM of int8 data and weights with an int16 cell state, TFLite's form "8x8_16" to the bit.
//
// Gates are Q3.12 before their function and Q0.15 after it; the cell state has a power of two for
// its scale. `intermediates` of the operator: 0 to 3 the gates' scales under layer normalization,
// 4 scale and zero point of the values that the projection multiplies (without a projection: of the
// output). The activation is always tanh, and peephole weights meet all cells (TFLite meets as many
// as there are outputs, which differs where a projection makes fewer).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/recurrent.h"
#include "kernels/ops/recurrent/cell_sums.h"
#include "kernels/ops/recurrent/lstm.h"
#include "kernels/ops/recurrent/lstm_norm.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

constexpr int kHidden = 4;  // among the intermediates

struct Gate {
  SumsMatrix input, recurrent;
  FixedFactor input_factor, recurrent_factor, peephole_factor, norm_factor;
  int32_t least_variance = 1;
};

struct Int8LstmState : OpState {
  LstmInputs inputs;
  LstmShape shape;
  Gate gates[kNumLstmGates];
  SumsMatrix projection;
  FixedFactor hidden_factor, projection_factor;
  int32_t hidden_zero = 0, out_zero = 0;
  int cell_log2 = 0;
  int32_t cell_clip = 0, projection_clip = 0;
  size_t input_rows = 0, state_rows = 0, hidden_rows = 0;
  size_t sums_offset = 0, gates_offset = 0, hidden_offset = 0, row_offset = 0;
};

FixedFactor FactorOf(float factor) { return MakeFixedFactor(static_cast<double>(factor)); }

// A clip in steps of `scale`, 0 for none.
int32_t QuantizedClip(float clip, float scale, float lo, float hi) {
  if (clip <= 0.0f) return 0;
  return static_cast<int32_t>(std::min(std::max(clip / scale, lo), hi));
}

class Planner {
 public:
  Planner(PrepareContext* context, Int8LstmState* state) : context_(*context), s_(*state) {}

  Status Run() {
    TW_RETURN_IF_ERROR(CheckScales());
    TW_RETURN_IF_ERROR(CheckHidden());
    ScratchLayout scratch;
    for (int gate = s_.shape.cifg ? kForgetGate : kInputGate; gate < kNumLstmGates; ++gate) {
      TW_RETURN_IF_ERROR(PlanGate(gate, &scratch));
    }
    PlanOutput();
    if (s_.shape.projection) {
      TW_RETURN_IF_ERROR(PlanSums(&context_, s_.inputs.projection, s_.inputs.projection_bias,
                                  -s_.hidden_zero, &scratch, &s_.projection));
    }
    const LstmShape& shape = s_.shape;
    const int64_t rows = shape.sequence.rows(), batch = shape.sequence.batch;
    s_.input_rows = PlanSumRows(context_, rows, shape.n_input, &scratch);
    s_.state_rows = PlanSumRows(context_, batch, shape.n_output, &scratch);
    s_.hidden_rows = PlanSumRows(context_, shape.projection ? batch : 0, shape.n_cell, &scratch);
    const size_t widest = static_cast<size_t>(std::max(shape.n_cell, shape.n_output));
    s_.sums_offset = scratch.AddSized(std::max(rows, batch), widest * sizeof(int32_t));
    s_.gates_offset =
        scratch.AddSized(rows, kNumLstmGates * static_cast<size_t>(shape.n_cell) * sizeof(int16_t));
    s_.hidden_offset = scratch.AddSized(batch, static_cast<size_t>(shape.n_cell));
    s_.row_offset = scratch.AddSized(shape.n_cell, sizeof(int16_t));
    context_.SetVariant("int8");
    return scratch.Request(&context_);
  }

 private:
  float Scale(int input) const { return ScaleOf(*context_.input(input)); }

  Status CheckScales() const {
    const LstmInputs& in = s_.inputs;
    for (int i : {in.input, in.output_state, in.cell_state, in.projection}) {
      if (context_.input(i) != nullptr) TW_RETURN_IF_ERROR(CheckInputScale(context_, i));
    }
    for (int gate = 0; gate < kNumLstmGates; ++gate) {
      for (int i :
           {in.input_weights[gate], in.recurrent_weights[gate], in.peephole[gate], in.norm[gate]}) {
        if (i >= 0 && context_.input(i) != nullptr) {
          TW_RETURN_IF_ERROR(CheckInputScale(context_, i));
        }
      }
    }
    return CheckOutputScale(context_, 0);
  }

  Status CheckHidden() {
    const int n = context_.n_intermediates();
    if (n == 12) {
      return Unsupported(
          "{} has 12 intermediates, the form with 8-bit gates, which is not supported; convert the "
          "model again (5 intermediates, 16-bit gates)",
          context_.Where());
    }
    for (int i = s_.shape.norm ? 0 : kHidden; i <= kHidden; ++i) {
      if (i == kInputGate && s_.shape.cifg) continue;
      const Quantization* q = context_.intermediate(i);
      if (q != nullptr && q->scales.size() == 1 && q->scales[0] > 0.0f) continue;
      return context_.Invalid(
          "int8 data need 5 intermediates with a scale each; number {} of the {} has none", i, n);
    }
    const float scale = Scale(s_.inputs.cell_state);
    s_.cell_log2 = static_cast<int>(std::lround(std::log2(scale)));
    const bool exact = std::fabs(std::log2(scale) - static_cast<float>(s_.cell_log2)) < 1e-3f;
    if (exact && s_.cell_log2 >= -15 && s_.cell_log2 <= -9) return Status::Ok();
    return context_.Invalid("{} has the scale {}, a power of two from 2^-15 to 2^-9 expected",
                            context_.InputName(s_.inputs.cell_state), scale);
  }

  Status PlanGate(int index, ScratchLayout* scratch) {
    Gate& gate = s_.gates[index];
    const LstmInputs& in = s_.inputs;
    const float scale = s_.shape.norm ? context_.intermediate(index)->scales[0] : 1.0f / 4096.0f;
    const int weights = in.input_weights[index], recurrent = in.recurrent_weights[index];
    gate.input_factor = FactorOf(Scale(weights) * Scale(in.input) / scale);
    gate.recurrent_factor = FactorOf(Scale(recurrent) * Scale(in.output_state) / scale);
    if (s_.shape.peephole && index != kCellGate) {
      gate.peephole_factor = FactorOf(static_cast<float>(
          std::ldexp(1.0, s_.cell_log2) * static_cast<double>(Scale(in.peephole[index])) /
          static_cast<double>(scale)));
    }
    if (s_.shape.norm) {
      const float norm = Scale(in.norm[index]);
      gate.norm_factor = FactorOf(norm);
      gate.least_variance = std::max(1, static_cast<int32_t>(10000.0f * norm));
    }
    TW_RETURN_IF_ERROR(PlanSums(&context_, weights, s_.shape.norm ? -1 : in.bias[index],
                                ZeroPointOf(*context_.input(in.input)), scratch, &gate.input));
    return PlanSums(&context_, recurrent, -1, ZeroPointOf(*context_.input(in.output_state)),
                    scratch, &gate.recurrent);
  }

  void PlanOutput() {
    const Quantization& hidden = *context_.intermediate(kHidden);
    const OpParams& params = context_.params();
    const float state_scale = Scale(s_.inputs.output_state);
    s_.hidden_zero = hidden.zero_points.empty() ? 0 : static_cast<int32_t>(hidden.zero_points[0]);
    s_.hidden_factor = FactorOf(static_cast<float>(
        std::ldexp(1.0, -15) / static_cast<double>(hidden.scales[0]) * std::ldexp(1.0, -15)));
    if (s_.shape.projection) {
      s_.projection_factor = FactorOf(Scale(s_.inputs.projection) * hidden.scales[0] / state_scale);
    }
    s_.out_zero = ZeroPointOf(*context_.input(s_.inputs.output_state));
    s_.cell_clip =
        QuantizedClip(params.cell_clip, Scale(s_.inputs.cell_state), -32768.0f, 32767.0f);
    s_.projection_clip =
        QuantizedClip(params.proj_clip, ScaleOf(context_.output(0)), -128.0f, 127.0f);
  }

  PrepareContext& context_;
  Int8LstmState& s_;
};

int16_t Saturated(int32_t x) { return static_cast<int16_t>(std::clamp(x, -32768, 32767)); }

class Runner {
 public:
  explicit Runner(const RunContext& context)
      : context_(context),
        s_(context.get_state<Int8LstmState>()),
        kernels_(*context.cpu->recurrent),
        n_(s_.shape.n_cell),
        sums_(reinterpret_cast<int32_t*>(context.scratch + s_.sums_offset)),
        gates_(reinterpret_cast<int16_t*>(context.scratch + s_.gates_offset)) {}

  void Run() {
    const Sequence& sequence = s_.shape.sequence;
    if (sequence.rows() == 0) return;
    AddInputs();
    int8_t* h = StateOf<int8_t>(context_, s_.inputs.output_state);
    int16_t* c = StateOf<int16_t>(context_, s_.inputs.cell_state);
    int8_t* scratch = reinterpret_cast<int8_t*>(context_.scratch + s_.hidden_offset);
    int8_t* hidden = s_.shape.projection ? scratch : h;
    int8_t* out = context_.output_data<int8_t>(0);
    const int64_t n_output = s_.shape.n_output;
    for (int64_t t = 0; t < sequence.time; ++t) {
      const int64_t first = sequence.FirstRow(t), step = sequence.RowStep();
      AddState(h, first, step);
      for (int64_t b = 0; b < sequence.batch; ++b) {
        Step(first + b * step, c + b * n_, hidden + b * n_);
      }
      if (s_.shape.projection) Project(hidden, h);
      for (int64_t b = 0; b < sequence.batch; ++b) {
        std::memcpy(out + (first + b * step) * n_output, h + b * n_output,
                    static_cast<size_t>(n_output));
      }
    }
  }

 private:
  int FirstGate() const { return s_.shape.cifg ? kForgetGate : kInputGate; }
  int16_t* Row(int gate, int64_t row) const {
    return gates_ + (gate * s_.shape.sequence.rows() + row) * n_;
  }

  void AddInputs() {
    const int64_t rows = s_.shape.sequence.rows();
    const uint8_t* x =
        MakeSumRows(context_, s_.input_rows, context_.input_data<int8_t>(s_.inputs.input),
                    rows * s_.shape.n_input);
    std::memset(gates_, 0, static_cast<size_t>(kNumLstmGates * rows * n_) * sizeof(int16_t));
    for (int g = FirstGate(); g < kNumLstmGates; ++g) {
      const Gate& gate = s_.gates[g];
      MultiplySums(context_, gate.input, x, rows, sums_);
      for (int64_t r = 0; r < rows; ++r) {
        kernels_.add_scaled(sums_ + r * n_, gate.input.bias.data(), n_, gate.input_factor,
                            Row(g, r));
      }
    }
  }

  void AddState(const int8_t* h, int64_t first, int64_t step) {
    const int64_t batch = s_.shape.sequence.batch;
    const uint8_t* rows = MakeSumRows(context_, s_.state_rows, h, batch * s_.shape.n_output);
    for (int g = FirstGate(); g < kNumLstmGates; ++g) {
      const Gate& gate = s_.gates[g];
      MultiplySums(context_, gate.recurrent, rows, batch, sums_);
      for (int64_t b = 0; b < batch; ++b) {
        kernels_.add_scaled(sums_ + b * n_, gate.recurrent.bias.data(), n_, gate.recurrent_factor,
                            Row(g, first + b * step));
      }
    }
  }

  // A gate's function, after what the cell's state adds and layer normalization.
  void Finish(int g, const int16_t* c, int16_t* x) const {
    const Gate& gate = s_.gates[g];
    if (s_.shape.peephole && g != kCellGate) {
      const int16_t* w = context_.input_data<int16_t>(s_.inputs.peephole[g]);
      for (int64_t k = 0; k < n_; ++k) {
        const int32_t product = MultiplyByFactor(int32_t{w[k]} * c[k], gate.peephole_factor);
        x[k] = Saturated(std::clamp(product, -65536, 65535) + x[k]);
      }
    }
    if (s_.shape.norm) {
      NormalizeGate(context_.input_data<int16_t>(s_.inputs.norm[g]),
                    context_.input_data<int32_t>(s_.inputs.bias[g]), gate.norm_factor,
                    gate.least_variance, n_, x);
    }
    if (g == kCellGate) {
      kernels_.tanh(x, x, n_, 3);
    } else {
      kernels_.logistic(x, x, n_);
    }
  }

  void Step(int64_t row, int16_t* c, int8_t* hidden) const {
    int16_t* forget = Row(kForgetGate, row);
    int16_t* cell = Row(kCellGate, row);
    int16_t* output = Row(kOutputGate, row);
    const int16_t* input = Row(kInputGate, row);
    for (int g = FirstGate(); g <= kCellGate; ++g) Finish(g, c, Row(g, row));
    const int shift = 30 + s_.cell_log2;
    for (int64_t k = 0; k < n_; ++k) {
      const int32_t in = s_.shape.cifg ? 32767 - forget[k] : input[k];
      const int32_t kept = RoundingShiftRight(int32_t{forget[k]} * c[k], 15);
      const int16_t added = static_cast<int16_t>(RoundingShiftRight(in * cell[k], shift));
      c[k] = Saturated(static_cast<int16_t>(kept) + added);
    }
    if (s_.cell_clip > 0) {
      const int16_t clip = static_cast<int16_t>(s_.cell_clip);
      for (int64_t k = 0; k < n_; ++k) {
        c[k] = std::clamp(c[k], static_cast<int16_t>(-clip), clip);
      }
    }
    Finish(kOutputGate, c, output);
    int16_t* squashed = reinterpret_cast<int16_t*>(context_.scratch + s_.row_offset);
    kernels_.tanh(c, squashed, n_, 15 + s_.cell_log2);
    // The projection takes its zero point with the other sign.
    const int32_t zero = s_.shape.projection ? -s_.hidden_zero : s_.hidden_zero;
    for (int64_t k = 0; k < n_; ++k) {
      const int32_t value = MultiplyByFactor(int32_t{output[k]} * squashed[k], s_.hidden_factor);
      hidden[k] = static_cast<int8_t>(std::clamp(value + zero, -128, 127));
    }
  }

  void Project(const int8_t* hidden, int8_t* h) {
    const int64_t batch = s_.shape.sequence.batch, n = s_.shape.n_output;
    const uint8_t* rows = MakeSumRows(context_, s_.hidden_rows, hidden, batch * n_);
    MultiplySums(context_, s_.projection, rows, batch, sums_);
    const int32_t clip = s_.projection_clip > 0 ? s_.projection_clip : 128;
    for (int64_t i = 0; i < batch * n; ++i) {
      const int32_t sum = static_cast<int32_t>(
          static_cast<uint32_t>(sums_[i]) +
          static_cast<uint32_t>(s_.projection.bias[static_cast<size_t>(i % n)]));
      const int64_t value = int64_t{MultiplyByFactor(sum, s_.projection_factor)} + s_.out_zero;
      const int64_t bounded = std::clamp<int64_t>(value, -128, 127);
      h[i] = static_cast<int8_t>(std::clamp<int64_t>(bounded, -clip, clip));
    }
  }

  const RunContext& context_;
  const Int8LstmState& s_;
  const RecurrentKernels& kernels_;
  const int64_t n_;
  int32_t* const sums_;
  int16_t* const gates_;
};

}  // namespace

Status PrepareInt8Lstm(PrepareContext* context, const LstmInputs& inputs, const LstmShape& shape) {
  Int8LstmState* state = context->NewState<Int8LstmState>();
  state->inputs = inputs;
  state->shape = shape;
  return Planner(context, state).Run();
}

Status RunInt8Lstm(const RunContext& context) {
  Runner(context).Run();
  return Status::Ok();
}

}  // namespace topwork
