// LSTM with kernel_type BASIC, one step:
//   [i g f o] = W [x h] + b;  c' = σ(i) tanh(g) + σ(f) c;  h' = σ(o) tanh(c')
// Inputs: x, h, W, b, c. Outputs: h', c', [x h], the sums. float32, or uint8 with an int32 bias,
// sums of Q3.12 and a state of Q4.11; uint8 data stand for (q − 128) / 128. Where h and c are
// variables they take the new values.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/ops/recurrent/lstm.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

enum Input { kData, kActivation, kWeights, kBias, kCell };
enum Output { kNewActivation, kNewCell, kConcat, kSums };

struct BasicState : OpState {
  int64_t batch = 0, n_input = 0, n = 0;
  CellMatrix weights;
  bool write_activation = false, write_cell = false;
  // uint8
  FixedFactor factor;
  size_t wide_offset = 0, sums_offset = 0, gates_offset = 0;
};

Status CheckShapes(const PrepareContext& context, BasicState* s) {
  for (int i : {kData, kActivation}) TW_RETURN_IF_ERROR(context.CheckRank(i, 2, 2));
  const int32_t batch = context.input(kData)->shape[0];
  const int32_t n = context.input(kActivation)->shape[1];
  s->batch = batch;
  s->n_input = context.input(kData)->shape[1];
  s->n = n;
  int64_t depth = s->n_input + s->n;
  if (n < 1 || n > INT32_MAX / 4 || depth > INT32_MAX) {
    return context.Invalid("{} has shape {}, 1 to {} columns expected",
                           context.InputName(kActivation),
                           context.input(kActivation)->shape.ToString(), INT32_MAX / 4);
  }
  TW_RETURN_IF_ERROR(CheckCellShape(context, kActivation, Shape{batch, n}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, kWeights, Shape{4 * n, static_cast<int32_t>(depth)}));
  TW_RETURN_IF_ERROR(CheckCellShape(context, kBias, Shape{4 * n}));
  return CheckCellShape(context, kCell, Shape{batch, n});
}

Status CheckTypes(const PrepareContext& context, bool floats) {
  const DType data = floats ? DType::kFloat32 : DType::kUInt8;
  TW_RETURN_IF_ERROR(context.CheckDType(kActivation, {data}));
  TW_RETURN_IF_ERROR(context.CheckDType(kWeights, {data}));
  TW_RETURN_IF_ERROR(context.CheckDType(kBias, {floats ? DType::kFloat32 : DType::kInt32}));
  return context.CheckDType(kCell, {floats ? DType::kFloat32 : DType::kInt16});
}

// Packed as 16-bit values without their zero point.
Status PlanQuantized(PrepareContext* context, ScratchLayout* scratch, BasicState* s) {
  TW_RETURN_IF_ERROR(CheckInputScale(*context, kWeights));
  TW_RETURN_IF_ERROR(CheckOutputScale(*context, kNewCell));
  const Quantization* bias = context->input(kBias)->quantization;
  if (bias == nullptr || bias->scales.size() != 1 || !(bias->scales[0] > 0.0f)) {
    return context->Invalid("{} needs exactly one scale above 0", context->InputName(kBias));
  }
  const float cell_scale = ScaleOf(context->output(kNewCell));
  if (cell_scale != 1.0f / 2048.0f) {
    return context->Unsupported("the state's scale is {}; only 2^-11 is defined", cell_scale);
  }
  s->factor = MakeFixedFactor(4096.0 * static_cast<double>(bias->scales[0]));
  s->weights.flip = 0x80;
  s->weights.zero_point = ZeroPointOf(*context->input(kWeights)) - 128;
  TW_RETURN_IF_ERROR(
      PlanCellMatrix(context, kWeights, CellArithmetic::kWide, scratch, &s->weights));
  s->wide_offset = scratch->AddSized(s->batch, 2 * static_cast<size_t>(s->weights.k));
  s->sums_offset = scratch->Add(s->batch * s->weights.n);
  s->gates_offset = scratch->AddSized(5 * s->n, 2);
  return Status::Ok();
}

void Concatenate(const RunContext& context, const BasicState& s, size_t size) {
  const uint8_t* x = context.input_data<uint8_t>(kData);
  const uint8_t* h = context.input_data<uint8_t>(kActivation);
  uint8_t* out = context.output_data<uint8_t>(kConcat);
  const size_t x_bytes = static_cast<size_t>(s.n_input) * size;
  const size_t h_bytes = static_cast<size_t>(s.n) * size;
  for (int64_t b = 0; b < s.batch; ++b) {
    std::memcpy(out, x, x_bytes);
    std::memcpy(out + x_bytes, h, h_bytes);
    x += x_bytes;
    h += h_bytes;
    out += x_bytes + h_bytes;
  }
}

void RunFloats(const RunContext& context, const BasicState& s) {
  Concatenate(context, s, sizeof(float));
  float* sums = context.output_data<float>(kSums);
  CellRows rows;
  rows.m = s.batch;
  rows.floats = context.output_data<float>(kConcat);
  rows.stride = s.weights.k;
  MultiplyCell(context, s.weights, rows, context.input_data<float>(kBias), false, sums,
               s.weights.n);
  const UnaryFunction* unary = context.cpu->elementwise->unary;
  const UnaryFunction logistic = unary[static_cast<int>(UnaryFn::kLogistic)];
  const UnaryFunction tanh = unary[static_cast<int>(UnaryFn::kTanh)];
  float* gates = reinterpret_cast<float*>(context.scratch + s.gates_offset);
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* row = sums + b * 4 * s.n;
    const float* old = context.input_data<float>(kCell) + b * s.n;
    float* cell = context.output_data<float>(kNewCell) + b * s.n;
    float* out = context.output_data<float>(kNewActivation) + b * s.n;
    logistic(row, gates, 4 * s.n, 0.0f);
    tanh(row + s.n, gates + s.n, s.n, 0.0f);
    for (int64_t k = 0; k < s.n; ++k) {
      cell[k] = gates[k] * gates[s.n + k] + gates[2 * s.n + k] * old[k];
    }
    tanh(cell, out, s.n, 0.0f);
    for (int64_t k = 0; k < s.n; ++k) out[k] *= gates[3 * s.n + k];
  }
}

int16_t Saturated(int32_t x) { return static_cast<int16_t>(std::clamp(x, -32768, 32767)); }

// a * b / 2^15, rounded, ties upward.
int32_t Times(int16_t a, int16_t b) { return std::min((int32_t{a} * b + (1 << 14)) >> 15, 32767); }

// y = saturated((x + bias) * factor), rounded twice as by MultiplyByFactor but both times ties
// upward, as the library does that TFLite multiplies these matrices with.
void Rescale(const int32_t* x, const int32_t* bias, int64_t n, FixedFactor factor, int16_t* y) {
  const int left = std::clamp(factor.shift, 0, 30), right = std::max(-factor.shift, 0);
  const int64_t half = (int64_t{1} << right) >> 1;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t sum =
        static_cast<int32_t>(static_cast<uint32_t>(x[i]) + static_cast<uint32_t>(bias[i]));
    const int64_t high =
        (int64_t{SaturatingShiftLeft(sum, left)} * factor.mantissa + (int64_t{1} << 30)) >> 31;
    y[i] = static_cast<int16_t>(std::clamp<int64_t>((high + half) >> right, -32768, 32767));
  }
}

void RunBytes(const RunContext& context, const BasicState& s) {
  Concatenate(context, s, 1);
  int16_t* wide = reinterpret_cast<int16_t*>(context.scratch + s.wide_offset);
  int32_t* products = reinterpret_cast<int32_t*>(context.scratch + s.sums_offset);
  int16_t* gates = reinterpret_cast<int16_t*>(context.scratch + s.gates_offset);
  int16_t* sums = context.output_data<int16_t>(kSums);
  const RecurrentKernels& kernels = *context.cpu->recurrent;
  context.cpu->integer->widen(context.output_data<uint8_t>(kConcat), s.batch * s.weights.k, true,
                              128, wide);
  MultiplyValues(context, s.weights, reinterpret_cast<const uint8_t*>(wide), s.batch, products);
  const int64_t n = s.n;
  for (int64_t b = 0; b < s.batch; ++b) {
    int16_t* row = sums + b * 4 * n;
    Rescale(products + b * 4 * n, context.input_data<int32_t>(kBias), 4 * n, s.factor, row);
    kernels.logistic(row, gates, 4 * n);
    kernels.tanh(row + n, gates + n, n, 3);
    const int16_t* old = context.input_data<int16_t>(kCell) + b * n;
    int16_t* cell = context.output_data<int16_t>(kNewCell) + b * n;
    int16_t* tanh_in = gates + 4 * n;
    for (int64_t k = 0; k < n; ++k) {
      const int32_t added = RoundingShiftRight(Times(gates[k], gates[n + k]), 4);
      cell[k] = Saturated(added + Times(gates[2 * n + k], old[k]));
      tanh_in[k] = Saturated(2 * cell[k]);
    }
    kernels.tanh(tanh_in, tanh_in, n, 3);
    uint8_t* out = context.output_data<uint8_t>(kNewActivation) + b * n;
    for (int64_t k = 0; k < n; ++k) {
      const int32_t value = RoundingShiftRight(Times(gates[3 * n + k], tanh_in[k]), 8);
      out[k] = static_cast<uint8_t>(128 + std::clamp(value, -128, 127));
    }
  }
}

}  // namespace

Status PrepareBasicLstm(PrepareContext* context) {
  TW_RETURN_IF_ERROR(context->CheckInputs(5, 5));
  TW_RETURN_IF_ERROR(context->CheckOutputs(4));
  TW_RETURN_IF_ERROR(context->CheckDType(kData, {DType::kFloat32, DType::kUInt8}));
  const DType data = context->input(kData)->dtype;
  const bool floats = data == DType::kFloat32;
  BasicState* s = context->NewState<BasicState>();
  TW_RETURN_IF_ERROR(CheckTypes(*context, floats));
  TW_RETURN_IF_ERROR(CheckShapes(*context, s));
  const DType wide = floats ? DType::kFloat32 : DType::kInt16;
  const Shape& state = context->input(kCell)->shape;
  Shape concat = state, sums = state;
  concat.set_dim(1, static_cast<int32_t>(s->n_input + s->n));
  sums.set_dim(1, static_cast<int32_t>(4 * s->n));
  TW_RETURN_IF_ERROR(context->SetOutput(kNewActivation, data, state));
  TW_RETURN_IF_ERROR(context->SetOutput(kNewCell, wide, state));
  TW_RETURN_IF_ERROR(context->SetOutput(kConcat, data, concat));
  TW_RETURN_IF_ERROR(context->SetOutput(kSums, wide, sums));
  s->write_activation = context->is_variable(kActivation);
  s->write_cell = context->is_variable(kCell);
  ScratchLayout scratch;
  if (floats) {
    TW_RETURN_IF_ERROR(
        PlanCellMatrix(context, kWeights, CellArithmetic::kFloat, &scratch, &s->weights));
    s->gates_offset = scratch.Add(4 * s->n);
  } else {
    TW_RETURN_IF_ERROR(PlanQuantized(context, &scratch, s));
  }
  context->SetVariant(floats ? "basic float" : "basic uint8");
  return scratch.Request(context);
}

Status RunBasicLstm(const RunContext& context) {
  const BasicState& s = context.get_state<BasicState>();
  if (s.batch == 0) return Status::Ok();
  BeginCellMatrix(context, s.weights);
  if (s.weights.arithmetic == CellArithmetic::kFloat) {
    RunFloats(context, s);
  } else {
    RunBytes(context, s);
  }
  if (s.write_activation) {
    std::memcpy(context.in(kActivation).data, context.out(kNewActivation).data,
                context.out(kNewActivation).bytes());
  }
  if (s.write_cell) {
    std::memcpy(context.in(kCell).data, context.out(kNewCell).data, context.out(kNewCell).bytes());
  }
  return Status::Ok();
}

}  // namespace topwork
