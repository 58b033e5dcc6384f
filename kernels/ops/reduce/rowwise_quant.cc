// Normalising operators on quantized rows (see rowwise_quant.h).
#include "kernels/ops/reduce/rowwise_quant.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/elementwise/unary_quant.h"
#include "kernels/ops/reduce/rowwise.h"

namespace topwork {
namespace {

struct RowwiseState : OpState {
  QuantOne in, out;
  QuantizedRange range;  // of the output
  float exps[256];       // e^(-beta scale d) by the distance d to the row's largest value
  float step = 0.0f;     // beta times the input's scale
};

// SOFTMAX of int16: tables of e^x on [-10, 0] and of 1 / (1 + x) on [0, 1].
struct SoftmaxInt16State : OpState {
  FixedFactor factor;  // brings differences of inputs to steps of 10 / 65535
  RealMap exp, reciprocal;
};

Status PrepareRows(PrepareContext& context, std::initializer_list<DType> dtypes,
                   bool may_widen = false) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, dtypes));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  const DType dtype = context.input(0)->dtype;
  const bool widened =
      may_widen && dtype != DType::kInt16 && context.output(0).dtype == DType::kInt16;
  if (!widened) context.AllowInPlace(0, 0);
  return context.SetOutput(0, widened ? DType::kInt16 : dtype, context.input(0)->shape);
}

RowwiseState* NewRowwiseState(PrepareContext& context) {
  RowwiseState* state = context.NewState<RowwiseState>();
  state->in = {ScaleOf(*context.input(0)), ZeroPointOf(*context.input(0))};
  state->out = {ScaleOf(context.output(0)), ZeroPointOf(context.output(0))};
  state->range = RangeOf(context.output(0).dtype);
  return state;
}

void FillExps(float beta, RowwiseState* state) {
  state->step = beta * state->in.scale;
  for (int d = 0; d < 256; ++d) {
    state->exps[d] = std::exp(-state->step * static_cast<float>(d));
  }
}

// clamp(round(x) + zero_point); x is finite.
template <typename T>
T Place(float x, const RowwiseState& state) {
  const float lo = static_cast<float>(state.range.lo - state.out.zero_point);
  const float hi = static_cast<float>(state.range.hi - state.out.zero_point);
  const float inside = std::min(std::max(lo, x), hi);  // NaN becomes lo
  const int32_t rounded = static_cast<int32_t>(inside + (inside < 0 ? -0.5f : 0.5f));
  return static_cast<T>(rounded + state.out.zero_point);
}

// The row's largest value and the sum of e^(beta (x - largest)).
template <typename T>
float SumExps(const RowwiseState& state, const T* in, int64_t n, int32_t* max) {
  *max = *std::max_element(in, in + n);
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) sum += state.exps[*max - in[i]];
  return sum;
}

template <typename T, typename Out>
void SoftmaxRow(const RowwiseState& state, const T* in, Out* out, int64_t n) {
  int32_t max = 0;
  const float sum = SumExps(state, in, n, &max);
  const float factor = 1.0f / (sum * state.out.scale);
  for (int64_t i = 0; i < n; ++i) out[i] = Place<Out>(state.exps[max - in[i]] * factor, state);
}

template <typename T>
void LogSoftmaxRow(const RowwiseState& state, const T* in, T* out, int64_t n) {
  int32_t max = 0;
  const float log_sum = std::log(SumExps(state, in, n, &max));
  const float factor = 1.0f / state.out.scale;
  for (int64_t i = 0; i < n; ++i) {
    const float x = -state.step * static_cast<float>(max - in[i]);
    out[i] = Place<T>((x - log_sum) * factor, state);
  }
}

template <typename T>
void L2Row(const RowwiseState& state, const T* in, T* out, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t x = in[i] - state.in.zero_point;
    sum += x * x;
  }
  const float norm = std::sqrt(static_cast<float>(sum));
  const float factor = sum == 0 ? 0.0f : 1.0f / (norm * state.out.scale);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Place<T>(static_cast<float>(in[i] - state.in.zero_point) * factor, state);
  }
}

// Calls row(state, in, out, n) for every row.
template <typename State, typename In, typename Out>
void RunRows(const RunContext& context, void (*row)(const State&, const In*, Out*, int64_t)) {
  const State& state = context.get_state<State>();
  const In* in = context.input_data<In>(0);
  Out* out = context.output_data<Out>(0);
  ForEachRowRange(context, [&](int64_t first, int64_t rows, int64_t n) {
    for (int64_t r = first; r < first + rows; ++r) row(state, in + r * n, out + r * n, n);
  });
}

int LeadingZeros(uint32_t x) { return x == 0 ? 32 : __builtin_clz(x); }

// Exponentials in 1/32768, their sum normalised to [1, 2), its reciprocal from the table.
void SoftmaxInt16Row(const SoftmaxInt16State& state, const int16_t* in, int16_t* out, int64_t n) {
  constexpr QuantizedRange kShort = {-32768, 32767};
  const int32_t max = *std::max_element(in, in + n);
  const auto exp_of = [&](int16_t x) {
    return state.exp(ClampTo(MultiplyByFactor(x - max, state.factor) + 32767, kShort));
  };
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += exp_of(in[i]);
  const int32_t sum = static_cast<int32_t>(std::min<int64_t>(total, INT32_MAX));
  const int headroom = LeadingZeros(static_cast<uint32_t>(sum));
  const int64_t normal = ((static_cast<int64_t>(sum) << (headroom - 1)) + (1 << 13)) >> 14;
  const int32_t centred = ClampTo(static_cast<int32_t>(normal) - (1 << 15) - (1 << 16), kShort);
  const int64_t reciprocal = state.reciprocal(centred);
  const int shift = 31 - headroom;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t y = (exp_of(in[i]) * reciprocal + (int64_t{1} << (shift - 1))) >> shift;
    out[i] = static_cast<int16_t>(ClampTo(static_cast<int32_t>(y), {0, 32767}));
  }
}

Status PrepareSoftmaxInt16(PrepareContext& context) {
  constexpr float kRange = 65535.0f;
  SoftmaxInt16State* state = context.NewState<SoftmaxInt16State>();
  const double scale = static_cast<double>(ScaleOf(*context.input(0)));
  state->factor = MakeFixedFactor(scale * static_cast<double>(context.params().beta) /
                                  (10.0 / static_cast<double>(kRange)));
  UnaryQuant exp, reciprocal;
  exp.in = {10.0f / kRange, 32767};
  reciprocal.in = {1.0f / kRange, -32768};
  exp.out = reciprocal.out = {2.0f / kRange, 0};
  FillRealMap<double>(
      exp, [](double x) { return std::exp(x); }, &state->exp);
  FillRealMap<double>(
      reciprocal, [](double x) { return 1.0 / (1.0 + x); }, &state->reciprocal);
  context.SetVariant("int16");
  return Status::Ok();
}

}  // namespace

bool IsRowwiseQuant(const PrepareContext& context) {
  return context.input(0) != nullptr && IsQuantizedInteger(context.input(0)->dtype);
}

Status PrepareSoftmaxQuant(PrepareContext& context) {
  TW_RETURN_IF_ERROR(
      PrepareRows(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}, true));
  TW_RETURN_IF_ERROR(CheckInputScale(context, 0));
  const float beta = context.params().beta;
  if (!(beta >= 0.0f && beta <= 1e30f)) {
    return context.Invalid("beta is {}, a number of at least 0 expected", beta);
  }
  const bool int16 = IsSelected(DType::kInt16) && context.input(0)->dtype == DType::kInt16;
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0, int16));
  if (int16) return PrepareSoftmaxInt16(context);
  FillExps(context.params().beta, NewRowwiseState(context));
  context.SetVariant("table");
  return Status::Ok();
}

Status RunSoftmaxQuant(const RunContext& context) {
  const bool widened = IsSelected(DType::kInt16) && context.out(0).dtype == DType::kInt16;
  switch (context.in(0).dtype) {
    case DType::kInt8:
      widened ? RunRows(context, SoftmaxRow<int8_t, int16_t>)
              : RunRows(context, SoftmaxRow<int8_t, int8_t>);
      break;
    case DType::kUInt8:
      widened ? RunRows(context, SoftmaxRow<uint8_t, int16_t>)
              : RunRows(context, SoftmaxRow<uint8_t, uint8_t>);
      break;
    default:
      if (IsSelected(DType::kInt16)) RunRows(context, SoftmaxInt16Row);
  }
  return Status::Ok();
}

Status PrepareLogSoftmaxQuant(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareRows(context, {DType::kFloat32, DType::kInt8, DType::kUInt8}));
  TW_RETURN_IF_ERROR(CheckInputScale(context, 0));
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0));
  FillExps(1.0f, NewRowwiseState(context));
  context.SetVariant("table");
  return Status::Ok();
}

Status RunLogSoftmaxQuant(const RunContext& context) {
  context.in(0).dtype == DType::kInt8 ? RunRows(context, LogSoftmaxRow<int8_t>)
                                      : RunRows(context, LogSoftmaxRow<uint8_t>);
  return Status::Ok();
}

Status PrepareL2NormalizationQuant(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareRows(context, {DType::kFloat32, DType::kInt8, DType::kUInt8}));
  TW_RETURN_IF_ERROR(CheckInputScale(context, 0));
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0));
  NewRowwiseState(context);
  context.SetVariant("integer sums");
  return Status::Ok();
}

Status RunL2NormalizationQuant(const RunContext& context) {
  context.in(0).dtype == DType::kInt8 ? RunRows(context, L2Row<int8_t>)
                                      : RunRows(context, L2Row<uint8_t>);
  return Status::Ok();
}

}  // namespace topwork
