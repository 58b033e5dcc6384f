// The loops over quantized tensors of every instruction set: the rounding of MultiplyByFactor at
// every shift, every length, and the vectors' tails.
#include "kernels/cpu/elementwise_quant.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/elementwise/binary_quant.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {
namespace elementwise_quant_test {

constexpr int64_t kMost = 150;  // more than twice four vectors of any instruction set, and a tail

template <typename Body>
void OnEveryTable(Body body) {
  ForEachRunnable([&](const CpuKernels& cpu) { body(*cpu.elementwise->quantized); });
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

TEST_CASE("quantized loops: every factor rounds as MultiplyByFactor does", "[ops][quant][sets]") {
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

struct SumCase {
  QuantBinaryFn fn;
  int32_t left_shift;
  FixedFactor scale_a, scale_b, scale_y;
};
constexpr FixedFactor kHalf = {1 << 30, 0}, kPart = {1717986918, -1}, kLess = {1431655765, -17};
constexpr SumCase kSums[] = {
    {QuantBinaryFn::kAdd, 12, kHalf, kPart, {1431655765, -10}},
    {QuantBinaryFn::kSub, 12, kHalf, kPart, {1431655765, -10}},
    {QuantBinaryFn::kAdd, 20, kHalf, kPart, kLess},
    {QuantBinaryFn::kAdd, 20, kPart, kHalf, kLess},
    {QuantBinaryFn::kAdd, 20, kHalf, kHalf, kLess},
    {QuantBinaryFn::kAdd, 20, kPart, {1999999999, -2}, kLess},
    {QuantBinaryFn::kSub, 20, kPart, kHalf, kLess},
    {QuantBinaryFn::kSub, 20, kHalf, kHalf, kLess},
    {QuantBinaryFn::kMul, 0, kHalf, kHalf, {1717986918, -6}},
    {QuantBinaryFn::kMul, 0, kHalf, kHalf, {1717986918, 0}},
};

// ADD, SUB and MUL of two tensors, element by element, as elementwise_quant.h defines them.
template <typename T>
int WrongSums(const QuantElementwiseKernels& kernels, QuantType type, const SumCase& c, int a_step,
              int b_step) {
  const std::vector<T> a = Numbers<T>(kMost, 3), b = Numbers<T>(kMost, 4);
  QuantBinaryParams p;
  p.a_offset = -3;
  p.b_offset = 7;
  p.y_offset = 2;
  // Wider values are shifted less, so that sums stay within 32 bits.
  p.left_shift = sizeof(T) == 1 ? c.left_shift : std::min(12, c.left_shift);
  p.scale_a = c.scale_a;
  p.scale_b = c.scale_b;
  p.scale_y = c.scale_y;
  p.lo = std::numeric_limits<T>::min();
  p.hi = std::numeric_limits<T>::max();
  int n_wrong = 0;
  for (int64_t n = 1; n <= kMost; n += 3) {
    std::vector<T> y(static_cast<size_t>(n) + 1, T{77});
    QuantBinaryTile tile;
    tile.a = a.data();
    tile.b = b.data();
    tile.y = y.data();
    tile.rows = 1;
    tile.n = n;
    tile.a_step = a_step;
    tile.b_step = b_step;
    kernels.binary[static_cast<int>(c.fn)][static_cast<int>(type)](tile, p);
    for (int64_t i = 0; i < n; ++i) {
      int32_t left = a[static_cast<size_t>(i * a_step)] + p.a_offset;
      int32_t right = b[static_cast<size_t>(i * b_step)] + p.b_offset;
      int32_t sum = left * right;
      if (c.fn != QuantBinaryFn::kMul) {
        left = MultiplyByFactor(left * (1 << p.left_shift), p.scale_a);
        right = MultiplyByFactor(right * (1 << p.left_shift), p.scale_b);
        sum = c.fn == QuantBinaryFn::kAdd ? left + right : left - right;
      }
      const int64_t want = int64_t{MultiplyByFactor(sum, p.scale_y)} + p.y_offset;
      n_wrong += y[static_cast<size_t>(i)] != Clamped(want, p.lo, p.hi);
    }
    n_wrong += y.back() != T{77};
  }
  return n_wrong;
}

// Scales of two terms and a result, as ADD has them: powers of two make ties. The last three are as
// networks have them.
struct AddScales {
  double a, b, y;
  int32_t a_zero, b_zero, y_zero;
};
constexpr AddScales kAddScales[] = {{0.05, 0.05, 0.1, 0, 0, 0},
                                    {0.25, 0.5, 1.0, -128, 5, 3},
                                    {0.013, 0.0271, 0.02, 7, -9, 0},
                                    {0.031, 0.002, 0.0305, -3, 0, 1},
                                    {0.7, 0.001, 0.01, 0, 0, -20},
                                    {0.0041, 0.0039, 0.0312, 1, 2, 4},
                                    {0.0235, 0.0471, 0.0389, -128, 4, -3},
                                    {0.1137, 0.0823, 0.1391, 2, -7, 5},
                                    {0.0612, 0.0913, 0.1044, -128, -128, -128}};

// All pairs of bytes, then of a part of them. `n_found` counts sums in single precision, where they
// are to be looked for; or null.
template <typename T>
int WrongPairs(const CpuKernels& cpu, QuantType type, QuantBinaryFn fn, const AddScales& scales,
               int* n_found) {
  const int32_t lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
  QuantBinaryParams p;
  p.left_shift = 20;
  const double twice = 2.0 * std::max(scales.a, scales.b);
  p.scale_a = MakeFixedFactor(scales.a / twice);
  p.scale_b = MakeFixedFactor(scales.b / twice);
  p.scale_y = MakeFixedFactor(twice / (1048576.0 * scales.y));
  const int32_t middle = lo + 128;
  p.a_offset = -scales.a_zero - middle;
  p.b_offset = -scales.b_zero - middle;
  p.y_offset = scales.y_zero + middle;
  p.lo = lo;
  p.hi = hi;
  if (n_found != nullptr) FindSingleSum(cpu, fn, type, &p);
  if (n_found != nullptr) *n_found += p.sum_a != 0.0f;
  std::vector<T> all(256), y(256 * 256);
  for (int32_t i = 0; i < 256; ++i) all[static_cast<size_t>(i)] = static_cast<T>(lo + i);
  QuantBinaryTile tile;
  tile.a = tile.b = all.data();
  tile.y = y.data();
  tile.rows = 256;
  tile.a_row = 1;
  tile.a_step = 0;
  int n_wrong = 0;
  for (const size_t n : {256, 101}) {
    tile.n = static_cast<int64_t>(n);
    cpu.elementwise->quantized->binary[static_cast<int>(fn)][static_cast<int>(type)](tile, p);
    for (size_t i = 0; i < 256 * n; ++i) {
      const int32_t a = MultiplyByFactor((all[i / n] + p.a_offset) * (1 << 20), p.scale_a);
      const int32_t b = MultiplyByFactor((all[i % n] + p.b_offset) * (1 << 20), p.scale_b);
      const int32_t sum = fn == QuantBinaryFn::kAdd ? a + b : a - b;
      n_wrong += y[i] != Clamped(int64_t{MultiplyByFactor(sum, p.scale_y)} + p.y_offset, lo, hi);
    }
  }
  return n_wrong;
}

TEST_CASE("quantized loops: sums of all pairs of bytes", "[ops][quant][sets]") {
  ForEachRunnable([](const CpuKernels& cpu) {
    int found = 0;
    for (const AddScales& scales : kAddScales) {
      INFO(&scales - kAddScales);
      for (QuantBinaryFn fn : {QuantBinaryFn::kAdd, QuantBinaryFn::kSub}) {
        for (int* n_found : {static_cast<int*>(nullptr), &found}) {
          CHECK(WrongPairs<int8_t>(cpu, QuantType::kInt8, fn, scales, n_found) == 0);
          CHECK(WrongPairs<uint8_t>(cpu, QuantType::kUInt8, fn, scales, n_found) == 0);
        }
      }
    }
    // Ties of both signs have none.
    const bool looks = cpu.integer->find_single != nullptr;
    CHECK(found >= (looks ? 12 : 0));
    CHECK(found < (looks ? 36 : 1));
  });
}

// MUL of the bytes `a` [256, n] and `b`, one row for all, or b and a.
template <typename T>
int WrongProducts(const QuantElementwiseKernels& kernels, QuantType type,
                  const QuantBinaryParams& p, int64_t n, bool swapped) {
  std::vector<T> a(static_cast<size_t>(256 * n)), b(static_cast<size_t>(n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i / b.size());
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(i * 41);
  std::vector<T> y = a;  // in place
  QuantBinaryTile tile;
  tile.a = swapped ? b.data() : y.data();
  tile.b = swapped ? y.data() : b.data();
  tile.y = y.data();
  tile.rows = 256;
  tile.n = n;
  (swapped ? tile.b_row : tile.a_row) = n;
  kernels.binary[static_cast<int>(QuantBinaryFn::kMul)][static_cast<int>(type)](tile, p);
  int n_wrong = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const int32_t own = a[i], other = b[i % b.size()];
    const int32_t product =
        ((swapped ? other : own) + p.a_offset) * ((swapped ? own : other) + p.b_offset);
    n_wrong +=
        y[i] != Clamped(int64_t{MultiplyByFactor(product, p.scale_y)} + p.y_offset, p.lo, p.hi);
  }
  return n_wrong;
}

template <typename T>
QuantBinaryParams ProductParams(const CpuKernels& cpu, double scale, int32_t a_zero, int32_t b_zero,
                                int32_t y_zero) {
  QuantBinaryParams p;
  p.lo = std::numeric_limits<T>::min();
  p.hi = std::numeric_limits<T>::max();
  const int32_t middle = p.lo + 128;
  p.a_offset = -a_zero - middle;
  p.b_offset = -b_zero - middle;
  p.y_offset = y_zero + middle;
  p.scale_y = MakeFixedFactor(scale);
  FindSingleFactor(*cpu.integer, &p);
  return p;
}

TEST_CASE("quantized loops: products of all pairs of bytes", "[ops][quant][sets]") {
  constexpr int32_t kZeros[] = {0, -128, 127, 3};
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int i = 0; i < n_tables; ++i) {
    INFO(tables[i]->isa);
    const QuantElementwiseKernels& kernels = *tables[i]->elementwise->quantized;
    std::mt19937 random(7);
    int n_single = 0, n_wrong = 0;
    constexpr int kTrials = 24;
    for (int trial = 0; trial < kTrials; ++trial) {
      // Ties come with powers of two.
      const double scale =
          trial % 4 == 0 ? 1.0 / (1 << (trial / 4 + 1)) : 0.7 * std::pow(0.61, trial % 13) + 1e-4;
      const int32_t a = kZeros[random() % 4], b = kZeros[random() % 4], y = kZeros[random() % 4];
      const bool swapped = trial % 2 == 1;
      const QuantBinaryParams ints = ProductParams<int8_t>(*tables[i], scale, a, b, y);
      const QuantBinaryParams bytes = ProductParams<uint8_t>(*tables[i], scale, a, b, y);
      n_single += ints.single_scale > 0.0f;
      for (const int64_t n : {256, 101, 3}) {
        n_wrong += WrongProducts<int8_t>(kernels, QuantType::kInt8, ints, n, swapped);
        n_wrong += WrongProducts<uint8_t>(kernels, QuantType::kUInt8, bytes, n, swapped);
      }
    }
    CHECK(n_wrong == 0);
    if (tables[i]->integer->find_single != nullptr) CHECK(n_single > kTrials / 2);
  }
}

TEST_CASE("quantized loops: sums and products of two tensors of any length", "[ops][quant][sets]") {
  OnEveryTable([](const QuantElementwiseKernels& kernels) {
    for (const SumCase& c : kSums) {
      INFO(&c - kSums);
      for (const auto& steps : {std::pair<int, int>{1, 1}, {1, 0}, {0, 1}, {0, 0}}) {
        const int a = steps.first, b = steps.second;
        CHECK(WrongSums<int8_t>(kernels, QuantType::kInt8, c, a, b) == 0);
        CHECK(WrongSums<uint8_t>(kernels, QuantType::kUInt8, c, a, b) == 0);
        CHECK(WrongSums<int16_t>(kernels, QuantType::kInt16, c, a, b) == 0);
      }
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
    std::vector<int32_t> sums(count, 9);
    kernels.sum_rows[index](sums.data(), x.data(), kRows, kMost, n);
    for (size_t i = 0; i < count; ++i) {
      int32_t sum = 9;
      for (size_t r = 0; r < kRows; ++r) sum += x[r * kMost + i];
      n_wrong += sums[i] != sum;
    }
  }
  return n_wrong;
}

TEST_CASE("quantized loops: sums of rows of any length", "[ops][quant][sets]") {
  OnEveryTable([](const QuantElementwiseKernels& kernels) {
    CHECK(WrongRows<int8_t>(kernels, QuantType::kInt8) == 0);
    CHECK(WrongRows<uint8_t>(kernels, QuantType::kUInt8) == 0);
    CHECK(WrongRows<int16_t>(kernels, QuantType::kInt16) == 0);
  });
}

int WrongLookups(const QuantElementwiseKernels& kernels) {
  const std::vector<uint8_t> table = Numbers<uint8_t>(256, 6);
  constexpr size_t kBytes = 600;
  std::vector<uint8_t> x(kBytes);
  for (size_t i = 0; i < kBytes; ++i) x[i] = static_cast<uint8_t>(i * 37 + i / 256);
  int n_wrong = 0;
  for (size_t n = 0; n < kBytes; n += n < 300 ? 1 : 61) {
    std::vector<uint8_t> y(n + 1, 77), in_place(x.begin(), x.begin() + static_cast<int64_t>(n));
    kernels.lookup(x.data(), y.data(), {static_cast<int64_t>(n)}, table.data());
    kernels.lookup(in_place.data(), in_place.data(), {static_cast<int64_t>(n)}, table.data());
    for (size_t i = 0; i < n; ++i) n_wrong += y[i] != table[x[i]] || in_place[i] != table[x[i]];
    n_wrong += y.back() != 77;
  }
  return n_wrong;
}

// Of rows with something between them.
int WrongRowLookups(const QuantElementwiseKernels& kernels) {
  const std::vector<uint8_t> table = Numbers<uint8_t>(256, 7);
  int n_wrong = 0;
  for (size_t n = 1; n < 150; n += 7) {
    const size_t rows = 5, x_step = n + 3, y_step = n + 9;
    const std::vector<uint8_t> x = Numbers<uint8_t>(rows * x_step, 8);
    std::vector<uint8_t> y(rows * y_step, 77);
    const ByteRows shape = {static_cast<int64_t>(n), static_cast<int64_t>(rows),
                            static_cast<int64_t>(x_step), static_cast<int64_t>(y_step)};
    kernels.lookup(x.data(), y.data(), shape, table.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t row = i / y_step, at = i % y_step;
      n_wrong += y[i] != (at < n ? table[x[row * x_step + at]] : 77);
    }
  }
  return n_wrong;
}

TEST_CASE("quantized loops: tables looked up by any number of bytes", "[ops][quant][sets]") {
  OnEveryTable([](const QuantElementwiseKernels& kernels) {
    CHECK(WrongLookups(kernels) == 0);
    CHECK(WrongRowLookups(kernels) == 0);
    const bool kept = looks_up_halves;
    looks_up_halves = false;  // as on other processors of the set
    CHECK(WrongLookups(kernels) == 0);
    looks_up_halves = kept;
  });
}

}  // namespace elementwise_quant_test
}  // namespace test
}  // namespace topwork
