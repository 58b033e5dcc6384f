// Which quantized arithmetic the tensors of a weighted operator ask for (see integer_product.h).
#include <algorithm>
#include <cmath>

#include "kernels/ops/products/integer_product.h"
#include "kernels/ops/shared/scales.h"

namespace topwork {
namespace {

Status CheckWeights(const PrepareContext& context, const ProductInputs& inputs, int channel_axis,
                    bool allow_uint8, bool is_fully_connected) {
  const TensorView& weights = *context.input(inputs.weights);
  const bool is_int2 = is_fully_connected && weights.dtype == DType::kInt2;
  if (!is_int2 && allow_uint8) {
    TW_RETURN_IF_ERROR(
        context.CheckDType(inputs.weights, {DType::kInt8, DType::kUInt8, DType::kInt4}));
  } else if (!is_int2) {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.weights, {DType::kInt8, DType::kInt4}));
  }
  if (is_fully_connected && weights.quantization != nullptr && weights.quantization->block > 0) {
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(CheckScales(context, weights, context.InputName(inputs.weights)));
  const Quantization& q = *weights.quantization;
  if (q.scales.size() > 1 && q.axis != channel_axis) {
    return InvalidModel("%s: %s has scales along dimension %d, dimension %d expected",
                        context.Where().c_str(), context.InputName(inputs.weights).c_str(), q.axis,
                        channel_axis);
  }
  for (size_t c = 1; c < q.zero_points.size(); ++c) {
    if (q.zero_points[c] == q.zero_points[0]) continue;
    return Unsupported("%s: %s has zero points that differ by channel", context.Where().c_str(),
                       context.InputName(inputs.weights).c_str());
  }
  return Status::Ok();
}

// The bias is added to products, so its scale must be theirs.
Status CheckBiasScale(const PrepareContext& context, const ProductInputs& inputs) {
  const TensorView* bias = context.input(inputs.bias);
  if (bias == nullptr || bias->quantization == nullptr || bias->quantization->scales.empty()) {
    return Status::Ok();
  }
  const TensorView& weights = *context.input(inputs.weights);
  if (bias->quantization->scales.size() != 1 || weights.quantization->scales.size() != 1) {
    return Status::Ok();  // per channel: the format leaves the bias's scales to be derived
  }
  const double product = static_cast<double>(ScaleOf(*context.input(inputs.data))) *
                         static_cast<double>(ScaleOf(weights));
  const double difference = std::fabs(product - static_cast<double>(ScaleOf(*bias)));
  if (difference / static_cast<double>(ScaleOf(context.output(0))) <= 0.02) return Status::Ok();
  return InvalidModel("%s: the bias %s has scale %g, the product of the scales of %s and %s is %g",
                      context.Where().c_str(), context.InputName(inputs.bias).c_str(),
                      static_cast<double>(ScaleOf(*bias)), context.InputName(inputs.data).c_str(),
                      context.InputName(inputs.weights).c_str(), product);
}

// Entries of no channel must not stand in the way.
constexpr FixedFactor kPadding = {1 << 30, -1};

bool HasSmallFactors(const BytesEnding& ending) {
  bool small = ending.reals.empty() && !ending.shifts_left;
  for (const int32_t mantissa : ending.mantissas) small = small && mantissa >= 1 << 30;
  for (const int32_t right : ending.rights) small = small && right >= 1 && right <= 30;
  return small;
}

}  // namespace

Status CheckIntegerInputs(const PrepareContext& context, int channel_axis,
                          const ProductInputs& inputs, bool is_fully_connected) {
  const DType dtype = context.input(inputs.data)->dtype;
  TW_RETURN_IF_ERROR(
      CheckWeights(context, inputs, channel_axis, dtype == DType::kUInt8, is_fully_connected));
  TW_RETURN_IF_ERROR(CheckInputScale(context, inputs.data));
  if (dtype == DType::kInt16) {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.bias, {DType::kInt32, DType::kInt64}));
    if (ZeroPointOf(*context.input(inputs.weights)) != 0) {
      return Unsupported("%s: %s has a zero point; none is defined with int16 data",
                         context.Where().c_str(), context.InputName(inputs.weights).c_str());
    }
  } else {
    TW_RETURN_IF_ERROR(context.CheckDType(inputs.bias, {DType::kInt32}));
  }
  const TensorView& output = context.output(0);
  if (output.dtype != dtype) {
    return Unsupported("%s: its input is %s and its output %s; both must be of one type",
                       context.Where().c_str(), DTypeName(dtype), DTypeName(output.dtype));
  }
  TW_RETURN_IF_ERROR(CheckOutputScale(context, 0));
  return CheckBiasScale(context, inputs);
}

Status CheckArithmetic(const PrepareContext& context, int channel_axis, Arithmetic* arithmetic,
                       bool is_fully_connected) {
  const bool residual = context.params().fused_residual;
  TW_RETURN_IF_ERROR(context.CheckInputs(2, residual ? 4 : 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  *arithmetic = Arithmetic::kFloat;
  TW_RETURN_IF_ERROR(
      context.CheckDType(0, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
  const DType dtype = context.input(0)->dtype, weights = context.input(1)->dtype;
  if (dtype == DType::kFloat32) {
    if (!is_fully_connected || weights != DType::kInt2) {
      TW_RETURN_IF_ERROR(
          context.CheckDType(1, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt4}));
    }
    if (weights == DType::kFloat32) return Status::Ok();
    *arithmetic = Arithmetic::kHybrid;
    TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kFloat32}));
    TW_RETURN_IF_ERROR(
        CheckWeights(context, ProductInputs(), channel_axis, true, is_fully_connected));
  } else {
    *arithmetic = dtype == DType::kInt16 ? Arithmetic::kInt16 : Arithmetic::kBytes;
    TW_RETURN_IF_ERROR(CheckIntegerInputs(context, channel_axis, {}, is_fully_connected));
  }
  if (residual) {
    return InternalError("%s: a residual was fused into a quantized operator",
                         context.Where().c_str());
  }
  return Status::Ok();
}

double OutputFactor(const PrepareContext& context, size_t channel, const ProductInputs& inputs) {
  return OutputFactor(*context.input(inputs.data), *context.input(inputs.weights),
                      context.output(0), channel);
}

double OutputFactor(const TensorView& data, const TensorView& weights_view,
                    const TensorView& output, size_t channel) {
  const float in = ScaleOf(data);
  const float weights = ScaleOf(weights_view, channel);
  // TFLite's operators on uint8 take the product in single precision.
  const double product = data.dtype == DType::kUInt8
                             ? static_cast<double>(in * weights)
                             : static_cast<double>(in) * static_cast<double>(weights);
  return std::min(product / static_cast<double>(ScaleOf(output)), 1e30);
}

ColumnFactors BytesEnding::From(int64_t first) const {
  ColumnFactors factors;
  if (!reals.empty()) {
    factors.real = reals.data() + first;
    return factors;
  }
  factors.mantissa = mantissas.data() + first;
  factors.left = shifts_left ? lefts.data() + first : nullptr;
  factors.right = rights.data() + first;
  return factors;
}

namespace {

void PutFactor(FixedFactor factor, size_t at, BytesEnding* out) {
  out->mantissas[at] = factor.mantissa;
  out->lefts[at] = std::min(std::max(factor.shift, 0), 31);
  out->rights[at] = std::max(-factor.shift, 0);
  if (factor.shift > 0) out->shifts_left = true;
}

}  // namespace

void MakeBytesEnding(const TensorView& output, const std::vector<FixedFactor>& factors,
                     BytesEnding* out) {
  for (std::vector<int32_t>* to : {&out->mantissas, &out->lefts, &out->rights}) {
    to->resize(factors.size());
  }
  for (size_t i = 0; i < factors.size(); ++i) PutFactor(factors[i], i, out);
  out->small = HasSmallFactors(*out);
  const QuantizedRange range = RangeOf(output.dtype);
  out->zero_point = ZeroPointOf(output);
  out->least = range.lo - out->zero_point;
  out->most = range.hi - out->zero_point;
}

Status MakeBytesEnding(const PrepareContext& context, int64_t groups, int64_t channels,
                       int64_t padded, bool real, BytesEnding* out, const ProductInputs& inputs) {
  const size_t n = static_cast<size_t>(groups * padded);
  if (real) {
    out->reals.assign(n, 0.0);
  } else {
    out->mantissas.assign(n, kPadding.mantissa);
    out->lefts.assign(n, 0);
    out->rights.assign(n, -kPadding.shift);
  }
  for (int64_t c = 0; c < groups * channels; ++c) {
    const size_t at = static_cast<size_t>(c / channels * padded + c % channels);
    const double factor = OutputFactor(context, static_cast<size_t>(c), inputs);
    if (real) {
      out->reals[at] = factor;
      continue;
    }
    PutFactor(MakeFixedFactor(factor), at, out);
  }
  out->small = HasSmallFactors(*out);
  QuantizedRange range;
  TW_RETURN_IF_ERROR(
      QuantizedActivationRange(context, context.output(0), context.params().activation, &range));
  out->zero_point = ZeroPointOf(context.output(0));
  out->least = range.lo - out->zero_point;
  out->most = range.hi - out->zero_point;
  return Status::Ok();
}

Status MakeWideEnding(const PrepareContext& context, int64_t channels, bool real, WideEnding* out,
                      const ProductInputs& inputs) {
  const TensorView* bias = context.input(inputs.bias);
  out->real = real;
  out->bias_64 = bias == nullptr || bias->dtype == DType::kInt64;
  for (int64_t c = 0; c < channels; ++c) {
    const double factor = OutputFactor(context, static_cast<size_t>(c), inputs);
    if (real) {
      out->real_factors.push_back(factor);
    } else {
      out->factors.push_back(MakeFixedFactor(factor));
    }
  }
  return QuantizedActivationRange(context, context.output(0), context.params().activation,
                                  &out->range);
}

int16_t FinishInt16(const WideEnding& ending, int64_t sum, const void* bias, size_t channel) {
  if (bias != nullptr) {
    sum += ending.bias_64 ? static_cast<const int64_t*>(bias)[channel]
                          : static_cast<const int32_t*>(bias)[channel];
  }
  const double lo = ending.range.lo, hi = ending.range.hi;
  if (ending.real) {
    const double value = std::round(static_cast<double>(sum) * ending.real_factors[channel]);
    return static_cast<int16_t>(std::min(std::max(value, lo), hi));
  }
  int32_t value;
  if (ending.bias_64) {
    value = MultiplyByFactor64(sum, ending.factors[channel]);
  } else {
    sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
    value = MultiplyByFactor(static_cast<int32_t>(sum), ending.factors[channel]);
  }
  return static_cast<int16_t>(std::min(std::max(value, ending.range.lo), ending.range.hi));
}

}  // namespace topwork
