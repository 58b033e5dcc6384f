// FULLY_CONNECTED in the forms that few models have, one value at a time; sums of 64 bits, factors
// in fixed point unless said otherwise, as in TFLite's reference kernels:
//   int16 data and int16 weights (int8 and int4 ones: fully_connected_quantized.cc);
//   uint8 data and weights, int16 results: bodies of old recurrent networks; factors are doubles;
//   the same with weights_format SHUFFLED4x16INT8: blocks of 4 units x 16 columns, one after the
//   other along the columns, their sign bits flipped, zero points 128. A second output is TFLite's
//   working memory; here it is zeros.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/ops/products/fully_connected.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/scales.h"

namespace topwork {
namespace {

constexpr int64_t kBlockUnits = 4, kBlockColumns = 16;

struct RareFullyConnectedState : OpState, FullyConnectedShape {
  std::vector<FixedFactor> factors;  // of each unit
  double real_factor = 0.0;          // of all; 0: fixed point
  QuantizedRange range;
  int32_t in_zero = 0, weight_zero = 0, out_zero = 0;
};

bool IsShuffled(const OpParams& params) { return params.weights_format != 0; }

Status CheckShuffled(const PrepareContext& context, const FullyConnectedShape& shape) {
  if (context.n_outputs() != 2 || context.output(1).dtype != DType::kUInt8) {
    return context.Invalid("a second output of uint8 is expected with shuffled weights");
  }
  if (shape.units % kBlockUnits != 0 || shape.depth % kBlockColumns != 0) {
    return context.Invalid("{} has {} rows of {}; shuffled weights have blocks of 4 rows of 16",
                           context.InputName(1), shape.units, shape.depth);
  }
  for (int i = 0; i < 2; ++i) {
    if (ZeroPointOf(*context.input(i)) == 128) continue;
    return context.Unsupported("{} has zero point {}; with shuffled weights it must be 128",
                               context.InputName(i), ZeroPointOf(*context.input(i)));
  }
  return Status::Ok();
}

Status CheckRareTypes(const PrepareContext& context) {
  if (IsShuffled(context.params()) &&
      (context.output(0).dtype != DType::kInt16 || context.input(0)->dtype != DType::kUInt8)) {
    return context.Unsupported(
        "weights_format SHUFFLED4x16INT8 is for uint8 data and int16 results");
  }
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kUInt8, DType::kInt16}));
  const DType dtype = context.input(0)->dtype;
  TW_RETURN_IF_ERROR(context.CheckDType(1, {dtype}));
  if (dtype == DType::kUInt8) {
    TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32}));
  } else {
    TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  }
  const TensorView& weights = *context.input(1);
  TW_RETURN_IF_ERROR(CheckScales(context, Operand::Input(1)));
  const Quantization& q = *weights.quantization;
  if (q.scales.size() > 1 && (q.axis != 0 || dtype == DType::kUInt8)) {
    return context.Unsupported(
        "{} has {} scales along dimension {}; one, or for int16 one a row, is supported",
        context.InputName(1), q.scales.size(), q.axis);
  }
  TW_RETURN_IF_ERROR(CheckInputScale(context, 0));
  return CheckOutputScale(context, 0);
}

// (x - zero of x) * (w - zero of w), summed over a row.
template <typename T>
int64_t Sum(const RareFullyConnectedState& s, const T* x, const T* w) {
  int64_t sum = 0;
  for (int64_t d = 0; d < s.depth; ++d) {
    sum += int64_t{x[d] - s.in_zero} * (w[d] - s.weight_zero);
  }
  return sum;
}

int64_t SumShuffled(const RareFullyConnectedState& s, int64_t unit, const uint8_t* x,
                    const int8_t* weights) {
  const int64_t rest = unit % kBlockUnits;
  const int8_t* w = weights + (unit - rest) * s.depth + rest * kBlockColumns;
  int64_t sum = 0;
  for (int64_t d = 0; d < s.depth; ++d) {
    const int64_t at = d / kBlockColumns * kBlockUnits * kBlockColumns + d % kBlockColumns;
    sum += int64_t{x[d] - s.in_zero} * w[at];
  }
  return sum;
}

int64_t Product(const RunContext& context, const RareFullyConnectedState& s, int64_t row,
                int64_t unit) {
  if (context.in(0).dtype == DType::kInt16) {
    return Sum(s, context.input_data<int16_t>(0) + row * s.depth,
               context.input_data<int16_t>(1) + unit * s.depth);
  }
  const uint8_t* x = context.input_data<uint8_t>(0) + row * s.depth;
  if (IsShuffled(*context.params)) return SumShuffled(s, unit, x, context.input_data<int8_t>(1));
  return Sum(s, x, context.input_data<uint8_t>(1) + unit * s.depth);
}

int16_t Finish(const RunContext& context, const RareFullyConnectedState& s, int64_t sum,
               int64_t unit) {
  if (const void* bias = context.input_data<void>(2)) {
    const bool wide = context.in(2).dtype == DType::kInt64;
    sum += wide ? static_cast<const int64_t*>(bias)[unit] : static_cast<const int32_t*>(bias)[unit];
  }
  if (s.real_factor > 0.0) {
    const double value = std::round(static_cast<double>(sum) * s.real_factor) + s.out_zero;
    return static_cast<int16_t>(std::min(std::max(value, static_cast<double>(s.range.lo)),
                                         static_cast<double>(s.range.hi)));
  }
  const FixedFactor factor = s.factors[static_cast<size_t>(unit)];
  const int32_t value = context.in(0).dtype == DType::kInt16
                            ? MultiplyByFactor64(sum, factor)
                            : MultiplyByFactor(static_cast<int32_t>(sum), factor) + s.out_zero;
  return static_cast<int16_t>(std::min(std::max(value, s.range.lo), s.range.hi));
}

}  // namespace

bool IsRareFullyConnected(const OpParams& params, DType data, DType weights, DType output) {
  return IsShuffled(params) || weights == DType::kInt16 ||
         (data == DType::kUInt8 && output == DType::kInt16);
}

Status PrepareRareFullyConnected(PrepareContext* context, const FullyConnectedShape& shape,
                                 const Shape& out) {
  TW_RETURN_IF_ERROR(CheckRareTypes(*context));
  if (!IsSelected(DType::kInt16)) return Status::Ok();  // never: their results are int16
  TW_RETURN_IF_ERROR(context->SetOutput(0, DType::kInt16, out));
  if (IsShuffled(context->params())) {
    TW_RETURN_IF_ERROR(CheckShuffled(*context, shape));
    TW_RETURN_IF_ERROR(context->SetOutput(1, DType::kUInt8, context->output(1).shape));
  } else {
    TW_RETURN_IF_ERROR(context->CheckOutputs(1));
  }
  RareFullyConnectedState* state = context->NewState<RareFullyConnectedState>();
  static_cast<FullyConnectedShape&>(*state) = shape;
  const OutputFactors factors(*context->input(0), *context->input(1), context->output(0));
  for (int64_t unit = 0; unit < shape.units; ++unit) {
    const double factor = factors.Of(unit);
    state->factors.push_back(MakeFixedFactor(factor));
    if (!IsShuffled(context->params()) && context->input(0)->dtype == DType::kUInt8) {
      state->real_factor = factor;
    }
  }
  state->in_zero = ZeroPointOf(*context->input(0));
  state->weight_zero = ZeroPointOf(*context->input(1));
  state->out_zero = ZeroPointOf(context->output(0));
  context->SetVariant("one by one");
  return QuantizedActivationRange(*context, context->output(0), context->params().activation,
                                  &state->range);
}

Status RunRareFullyConnected(const RunContext& context) {
  const RareFullyConnectedState& s = context.get_state<RareFullyConnectedState>();
  if (IsShuffled(*context.params)) std::memset(context.out(1).data, 0, context.out(1).bytes());
  int16_t* y = context.output_data<int16_t>(0);
  ParallelRows(context.pool, s.batch * s.units, s.depth, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = Finish(context, s, Product(context, s, i / s.units, i % s.units), i % s.units);
    }
  });
  return Status::Ok();
}

}  // namespace topwork
