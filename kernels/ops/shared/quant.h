// Quantized arithmetic that operators share: requantization, activation ranges, checks of scales.
//
// real = scale * (q - zero_point). Going from one scale to another multiplies an integer by a real
// factor, which is kept as a 31-bit mantissa and a power of two and applied with the rounding that
// TFLite's reference kernels use: first the doubled high half of the product, ties upward, then the
// shift, ties away from zero ("double rounding"). 64-bit accumulators (16-bit activations) use the
// mantissa's upper 16 bits and round once, ties upward.
#ifndef TOPWORK_KERNELS_OPS_SHARED_QUANT_H_
#define TOPWORK_KERNELS_OPS_SHARED_QUANT_H_

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/fixed_factor.h"
#include "runtime/tensor/selected_types.h"

namespace topwork {

// `factor` must be finite and ≥ 0. Factors below 2^-32 become 0. (TFLite: QuantizeMultiplier.)
FixedFactor MakeFixedFactor(double factor);

// The high half of 2 * a * b, rounded to nearest, ties upward; −2^31 * −2^31 saturates.
inline int32_t DoubledHighProduct(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) {
    return std::numeric_limits<int32_t>::max();
  }
  const int64_t product = static_cast<int64_t>(a) * b;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

// x / 2^exponent rounded to nearest, ties away from zero; exponent in [0, 31].
inline int32_t RoundingShiftRight(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t remainder = x & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((x >> exponent) + (remainder > threshold ? 1 : 0));
}

// x * 2^shift without overflow: saturates.
inline int32_t SaturatingShiftLeft(int32_t x, int shift) {
  const int64_t wide = static_cast<int64_t>(x) * (int64_t{1} << shift);
  if (wide > std::numeric_limits<int32_t>::max()) return std::numeric_limits<int32_t>::max();
  if (wide < std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(wide);
}

// x * factor. (TFLite: MultiplyByQuantizedMultiplier for 32-bit x.)
inline int32_t MultiplyByFactor(int32_t x, FixedFactor factor) {
  const int left = factor.shift > 0 ? (factor.shift < 31 ? factor.shift : 31) : 0;
  const int right = factor.shift > 0 ? 0 : -factor.shift;
  return RoundingShiftRight(DoubledHighProduct(SaturatingShiftLeft(x, left), factor.mantissa),
                            right);
}

// x * factor for |x| < 2^47, saturated to int32. (The same for 64-bit x.)
inline int32_t MultiplyByFactor64(int64_t x, FixedFactor factor) {
  const int32_t mantissa =
      factor.mantissa < 0x7FFF0000 ? (factor.mantissa + (1 << 15)) >> 16 : 0x7FFF;
  const int shift = 15 - (factor.shift < 14 ? factor.shift : 14);
  const int64_t result = (x * mantissa + (int64_t{1} << (shift - 1))) >> shift;
  if (result > std::numeric_limits<int32_t>::max()) return std::numeric_limits<int32_t>::max();
  if (result < std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(result);
}

// An inclusive range of quantized values.
struct QuantizedRange {
  int32_t lo = 0, hi = 0;
};

// All values of int8, uint8, int16 (or of packed types: −8 to 7 of int4); {0, 0} for other types.
QuantizedRange RangeOf(DType dtype);
inline bool IsQuantizedInteger(DType dtype) {
  return kHasQuantized &&
         (dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16);
}

// Scale and zero point of a channel (of the only one where there is one); the tensor must have
// passed CheckScales (kernels/ops/shared/scales.h).
float ScaleOf(const TensorView& view, size_t channel = 0);
int32_t ZeroPointOf(const TensorView& view, size_t channel = 0);

// Exactly one scale, finite and above 0, and a zero point that fits the type; int16 must be
// symmetric (zero point 0) when `int16_symmetric`. For input i, and for output i.
Status CheckInputScale(const PrepareContext& context, int i, bool int16_symmetric = true);
Status CheckOutputScale(const PrepareContext& context, int i, bool int16_symmetric = true);

// The range that a fused activation, no TANH, leaves to quantized values of `output`.
QuantizedRange ClampedRange(const TensorView& output, Activation activation);

// What a fused activation clamps quantized values of `output` to (whose scale was checked). TANH is
// no clamp and is refused.
Status QuantizedActivationRange(const PrepareContext& context, const TensorView& output,
                                Activation activation, QuantizedRange* range);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_QUANT_H_
