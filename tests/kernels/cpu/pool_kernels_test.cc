// The loops of pools of every instruction set: every number of channels, windows clipped at every
// border, larger than the image, and apart from each other.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/pool.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {
namespace pool_kernels_test {

enum class Pool { kMean, kLargest, kRootMeanSquare };

struct Case {
  const char* what;
  PoolAxis h, w;  // without `out`, which follows
};
constexpr Case kCases[] = {
    {"2 x 2, side by side", {6, 2, 2, 0, 0}, {8, 2, 2, 0, 0}},
    {"3 x 3, clipped on all sides", {5, 3, 1, 1, 0}, {4, 3, 1, 1, 0}},
    {"larger than the image", {3, 7, 1, 3, 0}, {2, 5, 1, 2, 0}},
    {"all of the image", {7, 7, 1, 0, 0}, {5, 5, 1, 0, 0}},
    {"with gaps", {9, 2, 3, 1, 0}, {10, 1, 4, 0, 0}},
    {"a long row", {2, 1, 1, 0, 0}, {150, 131, 2, 9, 0}},
};

template <typename T>
std::vector<T> Values(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  if constexpr (std::is_same<T, float>::value) {
    std::normal_distribution<float> normal;
    for (T& value : values) value = normal(random);
  } else {
    using Limits = std::numeric_limits<T>;
    std::uniform_int_distribution<int> any(Limits::min(), Limits::max());
    for (size_t i = 0; i < n; ++i) {
      const int value = any(random);
      values[i] = static_cast<T>(i % 7 == 0 ? (value & 1 ? Limits::min() : Limits::max()) : value);
    }
  }
  return values;
}

// The values of one channel under a window, row by row.
template <typename T>
struct Seen {
  std::vector<T> values;
  size_t row_length = 0;
};
template <typename T>
Seen<T> Look(const PoolTask& t, int64_t row, int64_t col, int64_t channel) {
  const int64_t image = row / t.h.out, y0 = row % t.h.out * t.h.stride - t.h.pad;
  const int64_t x0 = col * t.w.stride - t.w.pad;
  const int64_t y_begin = std::max<int64_t>(0, y0), y_end = std::min(t.h.in, y0 + t.h.filter);
  const int64_t x_begin = std::max<int64_t>(0, x0), x_end = std::min(t.w.in, x0 + t.w.filter);
  Seen<T> seen;
  seen.row_length = static_cast<size_t>(std::max<int64_t>(0, x_end - x_begin));
  seen.values.resize(seen.row_length * static_cast<size_t>(std::max<int64_t>(0, y_end - y_begin)));
  T* value = seen.values.data();
  for (int64_t y = y_begin; y < y_end; ++y) {
    const T* x = static_cast<const T*>(t.x) + (image * t.h.in + y) * t.w.in * t.channels + channel;
    for (int64_t k = x_begin; k < x_end; ++k) *value++ = x[k * t.channels];
  }
  return seen;
}

float Expected(const PoolTask& t, Pool pool, const Seen<float>& seen) {
  float best = t.lo, total = 0.0f, squares = 0.0f;
  const float* value = seen.values.data();
  const float* const end = value + seen.values.size();
  while (value < end) {
    const float* const row_end = value + seen.row_length;
    while (value < row_end) {
      float part = 0.0f;
      for (const float* stop = std::min(row_end, value + 64); value < stop; ++value) {
        best = std::max(best, *value);
        part += *value;
        const float square = *value * *value;
        squares += square;
      }
      total += part;
    }
  }
  const float count = static_cast<float>(seen.values.size());
  float result = pool == Pool::kLargest ? best : total / count;
  if (pool == Pool::kRootMeanSquare) result = std::sqrt(squares / count);
  return std::min(std::max(result, t.lo), t.hi);
}

template <typename T>
T Expected(const PoolTask& t, Pool pool, const Seen<T>& seen) {
  const T* const begin = seen.values.data();
  const T* const end = begin + seen.values.size();
  const int64_t count = end - begin, half = count / 2;
  int64_t best = t.integer_lo, sum = 0;
  for (const T* value = begin; value < end; ++value) {
    best = std::max<int64_t>(best, *value);
    sum += *value;
  }
  const int64_t mean = count == 0 ? 0 : (sum > 0 ? sum + half : sum - half) / count;
  const int64_t result = pool == Pool::kLargest ? best : mean;
  return static_cast<T>(std::min<int64_t>(std::max<int64_t>(result, t.integer_lo), t.integer_hi));
}

// Squares are added with or without rounding between, as the compiler of this file likes.
bool IsEqual(Pool pool, float a, float b) {
  return pool == Pool::kRootMeanSquare ? std::fabs(a - b) <= 1e-6f * std::fabs(b) : a == b;
}
template <typename T>
bool IsEqual(Pool, T a, T b) {
  return a == b;
}

// Results that differ from the definition, of two images, the second one's last row and the rest as
// two tasks; nothing may be written behind a task's rows.
template <typename T>
int WrongResults(PoolFunction function, Pool pool, const Case& c, int64_t channels) {
  PoolTask t;
  t.h = c.h;
  t.w = c.w;
  for (PoolAxis* axis : {&t.h, &t.w}) {
    axis->out = (axis->in + 2 * axis->pad - axis->filter) / axis->stride + 1;
  }
  t.batch = 2;
  t.channels = channels;
  const std::vector<T> x = Values<T>(static_cast<size_t>(t.batch * t.h.in * t.w.in * channels),
                                     static_cast<unsigned>(channels));
  const int64_t rows = t.batch * t.h.out, row = t.w.out * channels;
  std::vector<T> y(static_cast<size_t>(rows * row) + 1, T{77});
  t.x = x.data();
  t.y = y.data();
  t.lo = channels % 3 == 0 ? -0.25f : -std::numeric_limits<float>::infinity();
  t.hi = channels % 3 == 0 ? 0.5f : std::numeric_limits<float>::infinity();
  if constexpr (!std::is_same<T, float>::value) {
    t.integer_lo = std::numeric_limits<T>::min() + (channels % 3 == 0 ? 100 : 0);
    t.integer_hi = std::numeric_limits<T>::max() - (channels % 3 == 0 ? 30 : 0);
  }
  t.row_begin = rows - 1;
  t.row_end = rows;
  function(t);
  int n_wrong = y.back() != T{77};
  const std::vector<T> last(y.end() - row, y.end());
  t.row_begin = 0;
  t.row_end = rows - 1;
  function(t);
  n_wrong += !std::equal(last.begin(), last.end(), y.end() - row);
  for (int64_t i = 0; i < rows * row; ++i) {
    const Seen<T> seen = Look<T>(t, i / row, i % row / channels, i % channels);
    n_wrong += !IsEqual(pool, y[static_cast<size_t>(i)], Expected(t, pool, seen));
  }
  return n_wrong;
}

template <typename Body>
void OnEveryTable(Body body) {
  test::ForEachRunnable([&](const CpuKernels& cpu) {
    // Others have the loops of their base.
    if (std::string(cpu.isa) == cpu.base_isa) body(*cpu.pool);
  });
}

template <typename T>
void CheckAll(PoolFunction function, Pool pool) {
  for (const Case& c : kCases) {
    INFO(c.what);
    for (int64_t channels = 1; channels <= 67; channels += channels < 18 ? 1 : 7) {
      const int n_wrong = WrongResults<T>(function, pool, c, channels);
      INFO(channels);
      if (n_wrong != 0) CHECK(n_wrong == 0);
    }
    CHECK(WrongResults<T>(function, pool, c, 261) == 0);
  }
}

TEST_CASE("pools: the loops of every instruction set", "[ops][loops][sets]") {
  OnEveryTable([](const PoolKernels& kernels) {
    CheckAll<float>(kernels.mean, Pool::kMean);
    CheckAll<float>(kernels.largest, Pool::kLargest);
    CheckAll<float>(kernels.root_mean_square, Pool::kRootMeanSquare);
    CheckAll<int8_t>(kernels.integer_mean[0], Pool::kMean);
    CheckAll<uint8_t>(kernels.integer_mean[1], Pool::kMean);
    CheckAll<int16_t>(kernels.integer_mean[2], Pool::kMean);
    CheckAll<int8_t>(kernels.integer_largest[0], Pool::kLargest);
    CheckAll<uint8_t>(kernels.integer_largest[1], Pool::kLargest);
    CheckAll<int16_t>(kernels.integer_largest[2], Pool::kLargest);
  });
}

// Every sum that a window of so many pixels can have, and the largest windows.
TEST_CASE("pools: means of integers are rounded half away from zero", "[ops][loops][sets]") {
  OnEveryTable([](const PoolKernels& kernels) {
    int n_wrong = 0;
    for (const int64_t count : {1, 2, 3, 4, 9, 49, 122, 123, 255, 15000, 15687, 65000}) {
      constexpr int64_t kChannels = 96;
      std::vector<int8_t> x(static_cast<size_t>(count * kChannels));
      for (size_t i = 0; i < x.size(); ++i) {
        // Sums close to multiples of half the count: all the same, but for the first few pixels.
        const int64_t pixel = static_cast<int64_t>(i) / kChannels;
        const int64_t channel = static_cast<int64_t>(i) % kChannels;
        const bool is_more = pixel < count / 2 + channel % 5 - 2;
        const int64_t value = channel < 5 ? -128 : channel > 90 ? 126 : channel - 48;
        x[i] = static_cast<int8_t>(value + (is_more ? 1 : 0));
      }
      std::vector<int8_t> y(kChannels);
      PoolTask t;
      t.w = {count, count, 1, 0, 1};
      t.h = {1, 1, 1, 0, 1};
      t.batch = 1;
      t.channels = kChannels;
      t.x = x.data();
      t.y = y.data();
      t.row_end = 1;
      t.integer_lo = -128;
      t.integer_hi = 127;
      kernels.integer_mean[0](t);
      for (int64_t c = 0; c < kChannels; ++c) {
        n_wrong += y[static_cast<size_t>(c)] != Expected(t, Pool::kMean, Look<int8_t>(t, 0, 0, c));
      }
    }
    CHECK(n_wrong == 0);
  });
}

}  // namespace pool_kernels_test
}  // namespace test
}  // namespace topwork
