// Sums of the integer GEMM that end in bytes or floats beside the sums themselves, of every instruction set that
// this processor has: tiles may end in them without storing their sums.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/contract/kept_range.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/single_factors.h"

namespace topwork {
namespace integer_ended_tiles_test {

// m rows of `runs` runs of run_k values, which lie `step` apart, by n columns.
struct Product {
  int64_t m, n, runs, run_k;
  bool over_read, is_unsigned, has_terms;
  int32_t least, most, zero_point;

  int64_t step() const { return run_k + 3; }
  int64_t lda() const { return runs * step() + 5; }
};

struct Data {
  std::vector<uint8_t> a, w;
  std::vector<int64_t> run_offsets;
  std::vector<int32_t> bias, mantissas, rights, row_term;
  std::vector<float> scale, float_bias, addend;

  Data(const Product& p, std::mt19937* random) {
    const auto below = [&](int64_t n) { return static_cast<int64_t>((*random)()) % n; };
    const int64_t padded = (p.n + kColumnPad - 1) / kColumnPad * kColumnPad;
    a.resize(static_cast<size_t>(p.m * p.lda() + kOverRead));
    w.resize(static_cast<size_t>(p.n * p.runs * p.run_k));
    for (uint8_t& byte : a) byte = static_cast<uint8_t>(below(256));
    for (uint8_t& byte : w) byte = static_cast<uint8_t>(below(256));
    for (int64_t run = 0; run < p.runs; ++run) run_offsets.push_back(run * p.step());
    for (int64_t i = 0; i < padded; ++i) {
      bias.push_back(static_cast<int32_t>(below(40000)) - 10000);
      mantissas.push_back(static_cast<int32_t>((int64_t{1} << 30) + below(int64_t{1} << 30)));
      rights.push_back(static_cast<int32_t>(7 + below(4)));
      scale.push_back(static_cast<float>(1 + below(100)) / 4096.0f);
      float_bias.push_back(static_cast<float>(below(100)) - 50.0f);
    }
    for (int64_t i = 0; i < p.m; ++i) row_term.push_back(static_cast<int32_t>(below(20000)) - 9000);
    for (int64_t i = 0; i < p.m * p.n; ++i) addend.push_back(static_cast<float>(below(64)) - 31.0f);
  }
};

// Runs the task to [m, n] values of type T, with `guard` behind them.
template <typename T>
std::vector<T> Run(const IntegerGemm& gemm, IntegerTask task, IntegerEpilogue epilogue, T guard) {
  std::vector<T> c(static_cast<size_t>(task.m * task.n) + 64, guard);
  task.epilogue = epilogue;
  task.c = c.data();
  task.ldc = task.n;
  gemm.run(task);
  return c;
}

int32_t Expected(const Product& p, const Data& d, const std::vector<int32_t>& sums, size_t i) {
  const size_t column = i % static_cast<size_t>(p.n), row = i / static_cast<size_t>(p.n);
  const int32_t sum = sums[i] + d.bias[column] + (p.has_terms ? d.row_term[row] : 0);
  const int32_t scaled = MultiplyByFactor(sum, {d.mantissas[column], -d.rights[column]});
  return std::min(std::max(scaled, p.least), p.most) + p.zero_point;
}

// Whether f is what element i ends in, but for the rounding of a product.
bool IsExpected(const Product& p, const Data& d, const IntegerTask& task, int32_t sum,
                int32_t w_sum, size_t i, float f) {
  const size_t column = i % static_cast<size_t>(p.n);
  const double product = (static_cast<double>(sum) - *task.row_zero * w_sum) *
                         static_cast<double>(d.scale[column] * *task.row_scale);
  const double expected = product + static_cast<double>(d.float_bias[column]) +
                          (p.has_terms ? static_cast<double>(d.addend[i]) : 0.0);
  const double bounded =
      std::min(std::max(expected, static_cast<double>(task.lo)), static_cast<double>(task.hi));
  return std::abs(bounded - static_cast<double>(f)) <= 3e-7 * (std::abs(product) + 100.0);
}

// All rows share a scale and a zero point.
void CheckFloats(const IntegerGemm& gemm, const Product& p, const Data& d, IntegerTask task,
                 const std::vector<int32_t>& sums) {
  const float row_scale = 0.25f, guard = 1234.5f;
  const int32_t row_zero = p.zero_point;
  task.scale = d.scale.data();
  task.float_bias = d.float_bias.data();
  task.row_scale = &row_scale;
  task.row_zero = &row_zero;
  task.lo = -300.0f;
  task.hi = p.is_unsigned ? 200.0f : 1e30f;
  task.addend = p.has_terms ? d.addend.data() : nullptr;
  KeptRange::Lanes range = {};
  task.range = &range;
  const auto floats = Run<float>(gemm, task, IntegerEpilogue::kFloat, guard);
  const int32_t* w_sums = gemm.sums(task.packed, p.n, p.runs, p.run_k);
  const size_t n = static_cast<size_t>(p.m * p.n);
  float least = 0.0f, most = 0.0f;
  int64_t n_wrong = 0;
  for (size_t i = 0; i < floats.size(); ++i) {
    const int32_t w_sum = w_sums[i % static_cast<size_t>(p.n)];
    n_wrong += !(i < n ? IsExpected(p, d, task, sums[i], w_sum, i, floats[i]) : floats[i] == guard);
    if (i >= n) continue;
    least = std::min(least, floats[i]);
    most = std::max(most, floats[i]);
  }
  CHECK(n_wrong == 0);
  CHECK(*std::min_element(range.least, range.least + kRangeLanes) == least);
  CHECK(*std::max_element(range.most, range.most + kRangeLanes) == most);
}

void Check(const IntegerKernels& kernels, const IntegerGemm& gemm, const Product& p, const Data& d,
           bool single) {
  IntegerWeights weights;
  weights.data = d.w.data();
  weights.n = p.n;
  weights.runs = p.runs;
  weights.run_k = p.run_k;
  std::vector<uint8_t> packed(gemm.packed_bytes(p.n, p.runs, p.run_k));
  gemm.pack(weights, 0, gemm.n_panels(p.n), packed.data());
  std::vector<int16_t> wide(d.a.size());
  kernels.widen(d.a.data(), static_cast<int64_t>(d.a.size()), p.is_unsigned, 0, wide.data());
  std::vector<int64_t> offsets = d.run_offsets;
  for (int64_t& offset : offsets) offset *= gemm.bytes ? 1 : 2;
  IntegerTask task;
  task.a = gemm.bytes ? d.a.data() : reinterpret_cast<const uint8_t*>(wide.data());
  task.lda = p.lda() * (gemm.bytes ? 1 : 2);
  task.run_offsets = p.runs == 1 ? nullptr : offsets.data();
  task.runs = p.runs;
  task.run_k = p.run_k;
  task.over_read = p.over_read;
  if (gemm.bytes) task.flip = p.is_unsigned ? kernels.flip_uint8 : kernels.flip_int8;
  task.packed = packed.data();
  task.m = p.m;
  task.n = p.n;
  task.panel_end = gemm.n_panels(p.n);
  task.factors.mantissa = d.mantissas.data();
  task.factors.right = d.rights.data();
  task.factors.small = true;
  task.least = p.least;
  task.most = p.most;
  task.zero_point = p.zero_point;
  task.bias = d.bias.data();
  task.row_term = p.has_terms ? d.row_term.data() : nullptr;
  test::SingleColumns singles;
  if (single) {
    SingleSearch search;
    search.factors = task.factors;
    search.bias = task.bias;
    search.reach = 20000 + p.runs * p.run_k * 256 * 128;
    search.least = task.least;
    search.most = task.most;
    singles.Find(kernels, search, d.bias.size());
    task.factors.single = singles.factors();
  }
  const auto sums = Run<int32_t>(gemm, task, IntegerEpilogue::kSums, 0);
  const auto bytes = Run<uint8_t>(gemm, task, IntegerEpilogue::kBytes, 99);
  int64_t n_wrong = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool inside = i < static_cast<size_t>(p.m * p.n);
    n_wrong += bytes[i] != (inside ? static_cast<uint8_t>(Expected(p, d, sums, i)) : 99);
  }
  INFO(gemm.tag << ": " << p.m << " x " << p.n << " x " << p.runs << " runs of " << p.run_k
                << (p.over_read ? ", read beyond" : "") << (p.is_unsigned ? ", unsigned" : "")
                << (p.has_terms ? ", terms of rows" : "") << (single ? ", single factors" : ""));
  CHECK(n_wrong == 0);
  CheckFloats(gemm, p, d, task, sums);
}

TEST_CASE(
    "integer gemm: bytes and floats are what the sums end in at every height, width and depth",
    "[ops][sets]") {
  std::mt19937 random(12);
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    const IntegerKernels& kernels = *cpu->integer;
    for (const IntegerGemm* gemm : {kernels.bytes, kernels.int16, kernels.narrow}) {
      for (int64_t i = 0; i < 80 && gemm != nullptr; ++i) {
        const bool is_unsigned = i % 3 == 0, whole = i % 4 < 2;
        const int32_t zero_point = whole ? -128 : static_cast<int32_t>(random() % 100) - 50;
        const Product p = {1 + i % 27 + (i % 40 == 39 ? 500 : 0),
                           i % 2 == 0 ? 16 * (1 + i % 7) : 1 + i % 61,
                           1 + i % 3,
                           1 + i * 5 % 37,
                           i % 5 < 3,
                           is_unsigned,
                           i % 7 < 2,
                           whole || i % 8 < 4 ? -128 - zero_point : 3,
                           whole ? 127 - zero_point : 100 - zero_point,
                           zero_point};
        const Data data(p, &random);
        for (const bool single : {false, true}) Check(kernels, *gemm, p, data, single);
      }
    }
  }
}

}  // namespace integer_ended_tiles_test
}  // namespace topwork
