// The loops over quantized tensors of every instruction set: the rounding of MultiplyByFactor at
// every shift, every length, and the vectors' tails.
#include "kernels/cpu/elementwise_quant.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/quant.h"

namespace topwork {
namespace test {
namespace elementwise_quant_test {

constexpr int64_t kMost = 67;  // longer than four vectors of any instruction set, and a tail

template <typename Body>
void OnEveryTable(Body body) {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  REQUIRE(n >= 1);
  for (int i = 0; i < n; ++i) {
    INFO(tables[i]->isa);
    body(*tables[i]->elementwise->quantized);
  }
}

template <typename T>
std::vector<T> Numbers(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> any(std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max());
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(any(random) >> (i % 5 * 4));
  values[0] = std::numeric_limits<T>::min();
  values[n - 1] = std::numeric_limits<T>::max();
  return values;
}

int32_t Clamped(int64_t x, int32_t lo, int32_t hi) {
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(x, lo), hi));
}

TEST_CASE("quantized loops: every factor rounds as MultiplyByFactor does", "[ops][quant]") {
  const std::vector<int32_t> x = Numbers<int32_t>(kMost, 1);
  std::mt19937 random(2);
  std::uniform_int_distribution<int32_t> mantissa(1 << 30, std::numeric_limits<int32_t>::max());
  OnEveryTable([&](const QuantElementwiseKernels& kernels) {
    int n_wrong = 0;
    for (int32_t shift = -31; shift <= 30; ++shift) {
      RequantizeParams p;
      p.scale = {shift % 7 == 0 ? 1 << 30 : mantissa(random), shift};
      p.y_offset = shift % 3 == 0 ? 0 : 5;
      p.lo = -32768;
      p.hi = 32767;
      for (int64_t n = 1; n <= kMost; n += shift == 0 ? 1 : 11) {
        std::vector<int16_t> y(static_cast<size_t>(n) + 1, 77);
        kernels.requantize_i32_i16(x.data(), y.data(), n, p);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t scaled = MultiplyByFactor(x[static_cast<size_t>(i)], p.scale);
          n_wrong += y[static_cast<size_t>(i)] != Clamped(scaled + p.y_offset, p.lo, p.hi);
        }
        n_wrong += y.back() != 77;  // nothing behind the end is written
      }
    }
    CHECK(n_wrong == 0);
  });
}

// ADD of two tensors, element by element, as elementwise_quant.h defines it.
template <typename T>
int WrongSums(const QuantElementwiseKernels& kernels, QuantType type, int a_step, int b_step) {
  const std::vector<T> a = Numbers<T>(kMost, 3), b = Numbers<T>(kMost, 4);
  QuantBinaryParams p;
  p.a_offset = -3;
  p.b_offset = 7;
  p.y_offset = 2;
  p.left_shift = 12;
  p.scale_a = {1 << 30, 0};
  p.scale_b = {1717986918, -1};
  p.scale_y = {1431655765, -10};
  p.lo = std::numeric_limits<T>::min();
  p.hi = std::numeric_limits<T>::max();
  int n_wrong = 0;
  for (int64_t n = 1; n <= kMost; n += 3) {
    std::vector<T> y(static_cast<size_t>(n));
    QuantBinaryTile tile;
    tile.a = a.data();
    tile.b = b.data();
    tile.y = y.data();
    tile.rows = 1;
    tile.n = n;
    tile.a_step = a_step;
    tile.b_step = b_step;
    kernels.binary[static_cast<int>(QuantBinaryFn::kAdd)][static_cast<int>(type)](tile, p);
    for (int64_t i = 0; i < n; ++i) {
      const int32_t left = (a[static_cast<size_t>(i * a_step)] + p.a_offset) * (1 << p.left_shift);
      const int32_t right = (b[static_cast<size_t>(i * b_step)] + p.b_offset) * (1 << p.left_shift);
      const int32_t sum = MultiplyByFactor(left, p.scale_a) + MultiplyByFactor(right, p.scale_b);
      const int64_t want = int64_t{MultiplyByFactor(sum, p.scale_y)} + p.y_offset;
      n_wrong += y[static_cast<size_t>(i)] != Clamped(want, p.lo, p.hi);
    }
  }
  return n_wrong;
}

TEST_CASE("quantized loops: sums of two tensors of any length", "[ops][quant]") {
  OnEveryTable([](const QuantElementwiseKernels& kernels) {
    for (const auto& steps : {std::pair<int, int>{1, 1}, {1, 0}, {0, 1}, {0, 0}}) {
      const int a = steps.first, b = steps.second;
      CHECK(WrongSums<int8_t>(kernels, QuantType::kInt8, a, b) == 0);
      CHECK(WrongSums<uint8_t>(kernels, QuantType::kUInt8, a, b) == 0);
      CHECK(WrongSums<int16_t>(kernels, QuantType::kInt16, a, b) == 0);
    }
  });
}

template <typename T>
int WrongRows(const QuantElementwiseKernels& kernels, QuantType type) {
  const int index = static_cast<int>(type);
  constexpr int64_t kRows = 5;
  const std::vector<T> x = Numbers<T>(kRows * kMost, 5);
  int n_wrong = 0;
  for (int64_t n = 1; n <= kMost; ++n) {
    const size_t count = static_cast<size_t>(n);
    std::vector<T> most(x.begin(), x.begin() + n), least = most;
    std::vector<int32_t> sums(count, 9);
    kernels.max_rows[index](most.data(), x.data() + kMost, kRows - 1, kMost, n);
    kernels.min_rows[index](least.data(), x.data() + kMost, kRows - 1, kMost, n);
    kernels.sum_rows[index](sums.data(), x.data(), kRows, kMost, n);
    for (size_t i = 0; i < count; ++i) {
      T high = x[i], low = x[i];
      int32_t sum = 9;
      for (size_t r = 0; r < kRows; ++r) {
        const T value = x[r * kMost + i];
        high = std::max(high, value);
        low = std::min(low, value);
        sum += value;
      }
      n_wrong += most[i] != high || least[i] != low || sums[i] != sum;
    }
  }
  return n_wrong;
}

TEST_CASE("quantized loops: extremes and sums of rows of any length", "[ops][quant]") {
  OnEveryTable([](const QuantElementwiseKernels& kernels) {
    CHECK(WrongRows<int8_t>(kernels, QuantType::kInt8) == 0);
    CHECK(WrongRows<uint8_t>(kernels, QuantType::kUInt8) == 0);
    CHECK(WrongRows<int16_t>(kernels, QuantType::kInt16) == 0);
  });
}

}  // namespace elementwise_quant_test
}  // namespace test
}  // namespace topwork
