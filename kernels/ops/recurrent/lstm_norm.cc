// Layer normalization in fixed point (see lstm_norm.h). 1 / sqrt(v) comes from Newton's steps
// x := 3/2 x − v/2 x^3 on v brought to [1/4, 1), in Q3.28.
#include "kernels/ops/recurrent/lstm_norm.h"

#include <algorithm>
#include <limits>

#include "kernels/ops/shared/quant.h"

namespace topwork {
namespace {

// 1 / sqrt(v) for v ≥ 1.
FixedFactor InverseSqrt(int32_t v) {
  if (v <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int shift = 11;
  while (v >= (1 << 29)) {
    v /= 4;
    ++shift;
  }
  const int pairs = (__builtin_clz(static_cast<uint32_t>(v)) - 1) / 2 - 1;
  shift -= pairs;
  v <<= 2 * pairs;
  const int32_t half = RoundingShiftRight(v >> 1, 1);
  constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
  int32_t x = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = SaturatingShiftLeft(DoubledHighProduct(DoubledHighProduct(x, x), x), 6);
    x = SaturatingShiftLeft(DoubledHighProduct(kThreeHalves, x) - DoubledHighProduct(half, cube),
                            3);
  }
  constexpr int32_t kHalfSqrt2 = 1518500250;
  x = DoubledHighProduct(x, kHalfSqrt2);
  if (shift < 0) {
    x = SaturatingShiftLeft(x, -shift);
    shift = 0;
  }
  return {x, -shift};
}

}  // namespace

void NormalizeGate(const int16_t* weights, const int32_t* bias, FixedFactor factor,
                   int32_t least_variance, int64_t n, int16_t* x) {
  int64_t sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i];
    squares += int32_t{x[i]} * x[i];
  }
  const int32_t mean = static_cast<int32_t>(sum * 1024 / n);
  const int64_t variance = squares * ((1 << 20) / n) - int64_t{mean} * mean;
  const int32_t whole = static_cast<int32_t>(variance / (1 << 20));
  const FixedFactor inverse = InverseSqrt(whole < 1 ? least_variance : whole);
  const FixedFactor last = {factor.mantissa, factor.shift + 12};
  for (int64_t i = 0; i < n; ++i) {
    const int32_t normal = MultiplyByFactor(1024 * x[i] - mean, inverse);
    const int32_t product = static_cast<int32_t>(static_cast<uint32_t>(normal) *
                                                 static_cast<uint32_t>(int32_t{weights[i]}));
    const int64_t biased =
        static_cast<int32_t>(static_cast<uint32_t>(product) + static_cast<uint32_t>(bias[i]));
    const int32_t value = static_cast<int32_t>((biased > 0 ? biased + 512 : biased - 512) / 1024);
    x[i] = static_cast<int16_t>(std::clamp(MultiplyByFactor(value, last), -32768, 32767));
  }
}

}  // namespace topwork
