// Sums of the integer GEMM that end in bytes beside the sums themselves, of every instruction set that this
// processor has: tiles may end in bytes without storing their sums.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/single_factors.h"

namespace topwork {
namespace integer_byte_tiles_test {

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
    }
    for (int64_t i = 0; i < p.m; ++i) row_term.push_back(static_cast<int32_t>(below(20000)) - 9000);
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
}

TEST_CASE("integer gemm: bytes are what the sums end in at every height, width and depth",
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

}  // namespace integer_byte_tiles_test
}  // namespace topwork
