// Requantization against the definition in wide arithmetic, and against values computed by TFLite's
// reference rounding.
#include "kernels/ops/shared/quant.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace topwork {
namespace test {
namespace quant_test {

TEST_CASE("quant: factors keep 31 bits", "[ops][quant]") {
  for (const double factor : {1e-9, 1e-4, 0.25, 0.5, 0.7320508, 0.99999999999, 1.0, 1.5, 300.0}) {
    const FixedFactor fixed = MakeFixedFactor(factor);
    CHECK(fixed.mantissa >= 1 << 30);
    const double back = std::ldexp(static_cast<double>(fixed.mantissa), fixed.shift - 31);
    CHECK(std::fabs(back - factor) <= factor * std::ldexp(1.0, -31));
  }
  CHECK(MakeFixedFactor(0.0).mantissa == 0);
  CHECK(MakeFixedFactor(std::ldexp(1.0, -40)).mantissa == 0);
}

TEST_CASE("quant: factors are those of TFLite's QuantizeMultiplier", "[ops][quant]") {
  std::mt19937_64 random(11);
  std::vector<double> factors = {
      std::ldexp(1.0, -32), std::ldexp(0.99999999999, -32), 1e30, 1e-320,
      std::ldexp(static_cast<double>((int64_t{1} << 32) - 1), -40)};  // a tie
  for (int i = 0; i < 2000; ++i) {
    const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
    factors.push_back(std::ldexp(fraction, i % 80 - 40));
  }
  for (const double factor : factors) {
    int shift = 0;
    int64_t mantissa = std::llround(std::ldexp(std::frexp(factor, &shift), 31));
    if (mantissa == int64_t{1} << 31) {
      mantissa /= 2;
      ++shift;
    }
    const FixedFactor fixed = MakeFixedFactor(factor);
    CHECK(fixed.mantissa == (shift < -31 ? 0 : mantissa));
    CHECK(fixed.shift == (shift < -31 ? 0 : shift));
  }
}

TEST_CASE("quant: rounds twice, as the reference CONV_2D does", "[ops][quant]") {
  const FixedFactor quarter = MakeFixedFactor(0.25);
  const int32_t in[] = {-10, -6, -3, -2, -1, 1, 2, 3, 6, 10};
  const int32_t out[] = {-3, -2, -1, -1, 0, 1, 1, 1, 2, 3};  // LiteRT's reference CONV_2D, int8
  for (int i = 0; i < 10; ++i) CHECK(MultiplyByFactor(in[i], quarter) == out[i]);
  CHECK(MultiplyByFactor(-1, MakeFixedFactor(0.5)) == 0);
  CHECK(MultiplyByFactor(1, MakeFixedFactor(0.5)) == 1);
  CHECK(MultiplyByFactor64(-2, quarter) == 0);
  CHECK(MultiplyByFactor64(2, quarter) == 1);
}

TEST_CASE("quant: products are right to one step and never overflow", "[ops][quant]") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int32_t> any(-(1 << 30), 1 << 30);
  std::uniform_real_distribution<double> exponent(-25.0, 8.0);
  double worst = 0, worst64 = 0;
  for (int i = 0; i < 20000; ++i) {
    const int32_t x = any(random) >> (i % 31);
    const double factor = std::exp2(exponent(random));
    const FixedFactor fixed = MakeFixedFactor(factor);
    const double exact = x * factor;
    if (std::fabs(exact) > 1e9) continue;
    // 31 bits of mantissa: a relative error of 2^-31, and half a step for each rounding.
    worst = std::max(worst, std::fabs(MultiplyByFactor(x, fixed) - exact) -
                                std::fabs(exact) * std::ldexp(1.0, -30));
    worst64 = std::max(worst64, std::fabs(MultiplyByFactor64(x, fixed) - exact) -
                                    std::fabs(exact) * std::ldexp(1.0, -14));
  }
  CHECK(worst <= 1.0);
  CHECK(worst64 <= 0.5 + 1e-6);
  const int32_t least = std::numeric_limits<int32_t>::min();
  CHECK(MultiplyByFactor(least, MakeFixedFactor(1000.0)) < -2000000000);  // saturates on the left
  CHECK(DoubledHighProduct(least, least) == std::numeric_limits<int32_t>::max());
}

}  // namespace quant_test
}  // namespace test
}  // namespace topwork
