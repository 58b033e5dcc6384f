// RecurrentKernels of every instruction set that this processor has: all inputs of the fixed-point
// functions against a checksum of gemmlowp's answers, and the scaled addition beside
// MultiplyByFactor.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace recurrent_kernels_test {

// FNV-1a over the bytes of gemmlowp's logistic() and tanh() of every int16, the low byte first.
constexpr uint32_t kLogistic = 0x2996A804;
constexpr uint32_t kTanh[7] = {0x2B09D393, 0x3707C735, 0xE9699D41, 0x578B6201,
                               0x45811BB8, 0xC7816564, 0x6696B7D2};

std::vector<int16_t> AllInputs() {
  std::vector<int16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int16_t>(static_cast<int>(i) - 32768);
  return x;
}

uint32_t Checksum(const std::vector<int16_t>& values) {
  uint32_t hash = 2166136261u;
  for (int16_t value : values) {
    const uint16_t bits = static_cast<uint16_t>(value);
    hash = (hash ^ (bits & 255u)) * 16777619u;
    hash = (hash ^ (bits >> 8u)) * 16777619u;
  }
  return hash;
}

template <typename F>
void ForEachTable(F f) {
  test::ForEachRunnable([&](const CpuKernels& cpu) { f(*cpu.recurrent); });
}

TEST_CASE("recurrent kernels: logistic and tanh are gemmlowp's for every input", "[ops][sets]") {
  const std::vector<int16_t> x = AllInputs();
  ForEachTable([&](const RecurrentKernels& kernels) {
    std::vector<int16_t> y(x.size());
    kernels.logistic(x.data(), y.data(), 65536);
    CHECK(Checksum(y) == kLogistic);
    CHECK(y[32768 + 4096] / 32768.0 == Approx(1.0 / (1.0 + std::exp(-1.0))).margin(1e-3));
    for (int bits = 0; bits <= 6; ++bits) {
      INFO(bits << " bits before the point");
      kernels.tanh(x.data(), y.data(), 65536, bits);
      CHECK(Checksum(y) == kTanh[bits]);
    }
    // In place, and lengths that leave a rest.
    for (int64_t n : {1, 3, 17, 35}) {
      std::vector<int16_t> part(x.begin() + 20000, x.begin() + 20000 + n + 1);
      kernels.tanh(part.data(), part.data(), n, 6);
      CHECK(std::equal(part.begin(), part.end() - 1, y.begin() + 20000));
      CHECK(part.back() == x[static_cast<size_t>(20000 + n)]);
    }
  });
}

TEST_CASE("recurrent kernels: scaled sums are added and saturate", "[ops][sets]") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int32_t> sums(-40000000, 40000000), shorts(-32768, 32767);
  ForEachTable([&](const RecurrentKernels& kernels) {
    for (double factor : {0.00073, 0.37, 1e-6, 3.2, 0.0}) {
      INFO(factor);
      const FixedFactor fixed = MakeFixedFactor(factor);
      std::vector<int32_t> x(67), bias(67);
      std::vector<int16_t> y(67), expected;
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = sums(random);
        bias[i] = sums(random) / 64;
        y[i] = static_cast<int16_t>(shorts(random));
        const int64_t sum = int64_t{MultiplyByFactor(x[i] + bias[i], fixed)} + y[i];
        expected.push_back(static_cast<int16_t>(std::clamp<int64_t>(sum, -32768, 32767)));
      }
      kernels.add_scaled(x.data(), bias.data(), 67, fixed, y.data());
      CHECK(y == expected);
    }
  });
}

}  // namespace recurrent_kernels_test
}  // namespace topwork
