// Fixed-point factors and checks of scales (see quant.h).
#include "kernels/ops/shared/quant.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/ops/shared/activation.h"
#include "kernels/ops/shared/scales.h"

namespace topwork {
namespace {

// The quantized value of `real`, before clamping to a type.
int64_t QuantizedValue(float real, float scale, int32_t zero_point) {
  const float steps = std::round(real / scale);
  constexpr float kFar = 1e9f;  // beyond every quantized type, inside int64
  return zero_point + static_cast<int64_t>(std::min(kFar, std::max(-kFar, steps)));
}

Status CheckOneScale(const PrepareContext& context, Operand operand, bool int16_symmetric) {
  TW_RETURN_IF_ERROR(CheckScales(context, operand));
  const TensorView& view = operand.ViewIn(context);
  if (view.quantization->scales.size() != 1) {
    return context.Unsupported("{} has {} scales; one for the whole tensor expected here",
                               operand.NameIn(context), view.quantization->scales.size());
  }
  if (int16_symmetric && view.dtype == DType::kInt16 && ZeroPointOf(view) != 0) {
    return context.Unsupported("{} is int16 with zero point {}; 0 expected here",
                               operand.NameIn(context), ZeroPointOf(view));
  }
  return Status::Ok();
}

}  // namespace

FixedFactor MakeFixedFactor(double factor) {
  uint64_t bits;
  std::memcpy(&bits, &factor, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1022;  // of a fraction from 1/2 to 1
  const uint64_t fraction = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  uint64_t mantissa = (fraction + (1 << 21)) >> 22;  // to nearest, ties away from zero
  if (mantissa == uint64_t{1} << 31) {
    mantissa /= 2;
    ++exponent;
  }
  FixedFactor result;
  if (exponent < -31) return result;
  result.mantissa = static_cast<int32_t>(factor < 0.0 ? -mantissa : mantissa);
  result.shift = exponent;
  return result;
}

QuantizedRange RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kInt2:
      return {-2, 1};
    case DType::kInt4:
      return {-8, 7};
    case DType::kUInt4:
      return {0, 15};
    case DType::kInt8:
      return {-128, 127};
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt16:
      return {-32768, 32767};
    default:
      return {0, 0};
  }
}

float ScaleOf(const TensorView& view, size_t channel) {
  const Span<const float>& scales = view.quantization->scales;
  return scales[scales.size() == 1 ? 0 : channel];
}

int32_t ZeroPointOf(const TensorView& view, size_t channel) {
  const Span<const int64_t>& points = view.quantization->zero_points;
  if (points.empty()) return 0;
  return static_cast<int32_t>(points[points.size() == 1 ? 0 : channel]);
}

Status CheckInputScale(const PrepareContext& context, int i, bool int16_symmetric) {
  return CheckOneScale(context, Operand::Input(i), int16_symmetric);
}

Status CheckOutputScale(const PrepareContext& context, int i, bool int16_symmetric) {
  return CheckOneScale(context, Operand::Output(i), int16_symmetric);
}

QuantizedRange ClampedRange(const TensorView& output, Activation activation) {
  QuantizedRange range = RangeOf(output.dtype);
  if (activation == Activation::kNone) return range;
  const float scale = ScaleOf(output);
  const int32_t zero_point = ZeroPointOf(output);
  float lo, hi;
  ActivationRange(activation, &lo, &hi);
  const int64_t low = QuantizedValue(lo, scale, zero_point);
  const int64_t high = QuantizedValue(hi, scale, zero_point);
  range.lo = static_cast<int32_t>(std::max<int64_t>(range.lo, std::min<int64_t>(low, range.hi)));
  range.hi = static_cast<int32_t>(std::min<int64_t>(range.hi, std::max<int64_t>(high, range.lo)));
  return range;
}

Status QuantizedActivationRange(const PrepareContext& context, const TensorView& output,
                                Activation activation, QuantizedRange* range) {
  if (activation == Activation::kTanh || activation == Activation::kSignBit) {
    return context.Unsupported("a fused TANH or SIGN_BIT is not defined on {}",
                               DTypeName(output.dtype));
  }
  *range = ClampedRange(output, activation);
  return Status::Ok();
}

}  // namespace topwork
