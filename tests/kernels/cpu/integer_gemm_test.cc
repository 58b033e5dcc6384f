// The integer GEMM of every instruction set this processor has: its sums beside plain loops, and
// its 8-bit epilogue beside MultiplyByFactor (there sums come from the bias alone, for A is zero).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/quant.h"
#include "runtime/tensor/packed.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/single_factors.h"

namespace topwork {
namespace integer_gemm_test {

// What bytes end in: m rows, whose sums are those of `bias` and `row_term`.
struct Epilogue {
  int64_t m = 1, n = 1;
  std::vector<int32_t> bias, mantissas, rights, row_term;
  int32_t least = -128, most = 127, zero_point = 0;
  bool is_narrow = false;  // row terms are within ±2^20
};

// With the searcher's SingleFactors where it is not null.
std::vector<uint8_t> RunEpilogue(const IntegerGemm& gemm, const Epilogue& epilogue, bool small,
                                 const IntegerKernels* searcher = nullptr) {
  std::vector<uint8_t> zeros(static_cast<size_t>(std::max(epilogue.m, epilogue.n)) * 8, 0);
  IntegerWeights weights;
  weights.data = zeros.data();
  weights.n = epilogue.n;
  weights.run_k = 4;
  std::vector<uint8_t> packed(gemm.packed_bytes(epilogue.n, 1, 4) + 64);
  gemm.pack(weights, 0, gemm.n_panels(epilogue.n), packed.data());
  std::vector<uint8_t> out(static_cast<size_t>(epilogue.m * epilogue.n) + 64, 99);
  IntegerTask task;
  task.a = zeros.data();
  task.lda = 8;
  task.run_k = 4;
  task.packed = packed.data();
  task.m = epilogue.m;
  task.n = epilogue.n;
  task.panel_end = gemm.n_panels(epilogue.n);
  task.c = out.data();
  task.ldc = epilogue.n;
  task.factors.mantissa = epilogue.mantissas.data();
  task.factors.right = epilogue.rights.data();
  task.factors.small = small;
  task.least = epilogue.least - epilogue.zero_point;
  task.most = epilogue.most - epilogue.zero_point;
  task.bias = epilogue.bias.data();
  task.row_term = epilogue.row_term.empty() ? nullptr : epilogue.row_term.data();
  task.zero_point = epilogue.zero_point;
  test::SingleColumns singles;
  if (searcher != nullptr) {
    SingleSearch search;
    search.factors = task.factors;
    search.bias = task.bias;
    search.reach = 1 << 20;
    search.least = task.least;
    search.most = task.most;
    singles.Find(*searcher, search, epilogue.bias.size());
    task.factors.single = singles.factors();
  }
  gemm.run(task);
  return out;
}

// Element i of the output, or what must stay behind it.
uint8_t Expected(const Epilogue& epilogue, int64_t i) {
  if (i >= epilogue.m * epilogue.n) return 99;
  const size_t c = static_cast<size_t>(i % epilogue.n), row = static_cast<size_t>(i / epilogue.n);
  const int32_t sum = epilogue.bias[c] + (epilogue.row_term.empty() ? 0 : epilogue.row_term[row]);
  const int32_t scaled = MultiplyByFactor(sum, {epilogue.mantissas[c], -epilogue.rights[c]});
  const int32_t low = epilogue.least - epilogue.zero_point,
                high = epilogue.most - epilogue.zero_point;
  return static_cast<uint8_t>(std::min(std::max(scaled, low), high) + epilogue.zero_point);
}

void CheckEpilogue(const Epilogue& epilogue) {
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    const IntegerKernels& integer = *cpu->integer;
    for (const IntegerGemm* gemm : {integer.bytes, integer.int16, integer.narrow}) {
      if (gemm == nullptr) continue;
      // Any factors, small ones, and single ones of the reach that row terms have.
      for (const int kind : {0, 1, 2}) {
        if (kind == 2 && !epilogue.is_narrow) continue;
        const std::vector<uint8_t> out =
            RunEpilogue(*gemm, epilogue, kind > 0, kind == 2 ? &integer : nullptr);
        for (size_t i = 0; i < out.size(); ++i) {
          const int64_t at = static_cast<int64_t>(i);
          if (out[i] == Expected(epilogue, at)) continue;
          const size_t c = static_cast<size_t>(at % epilogue.n);
          FAIL(gemm->tag << ", kind " << kind << ": element " << i << " of " << epilogue.m << " x "
                         << epilogue.n << ", " << epilogue.bias[c] << " * " << epilogue.mantissas[c]
                         << " >> " << epilogue.rights[c] << " became " << int{out[i]} << ", not "
                         << int{Expected(epilogue, at)});
        }
      }
    }
  }
}

TEST_CASE("integer gemm: small factors round as two roundings do", "[ops][sets]") {
  std::mt19937 random(5);
  const int32_t extremes[] = {1 << 30, (1 << 30) + 1, INT32_MAX, INT32_MAX - 1, 1518500250};
  int n_ties = 0;
  for (int round = 0; round < 400; ++round) {
    Epilogue epilogue;
    epilogue.m = 1 + round % 37;
    epilogue.n = 1 + round % 113;
    const bool is_unsigned = round % 2 == 0;
    epilogue.least = is_unsigned ? 0 : -128;
    epilogue.most = is_unsigned ? 255 : 127;
    epilogue.zero_point = static_cast<int32_t>(random() % 256) - (is_unsigned ? 0 : 128);
    if (round % 3 == 0) epilogue.least = epilogue.zero_point;
    const int64_t padded = (epilogue.n + kColumnPad - 1) / kColumnPad * kColumnPad;
    for (int64_t c = 0; c < padded; ++c) {
      const int32_t right = 1 + static_cast<int32_t>(random() % 30);
      const int32_t mantissa = random() % 2 == 0
                                   ? extremes[random() % 5]
                                   : (1 << 30) + static_cast<int32_t>(random() % (1u << 30));
      // Around halves of the output's steps, and anything.
      const double step = 4294967296.0 / mantissa * static_cast<double>(int64_t{1} << (right - 1));
      const double half = (static_cast<int>(random() % 400) - 200) * 0.5 * step;
      const double bounded = std::min(std::max(half, -1.0 * kSmallBias), 1.0 * kSmallBias);
      int32_t bias = static_cast<int32_t>(bounded) + static_cast<int32_t>(random() % 5) - 2;
      if (random() % 8 == 0) bias = static_cast<int32_t>(random() >> 1) * (c % 2 == 0 ? 1 : -1);
      if (random() % 16 == 0) bias = static_cast<int32_t>(random() % 7) - 3;
      bias = std::min(std::max(bias, -kSmallBias), kSmallBias);
      n_ties += right < 30 && mantissa == 1 << 30 && bias % (1 << right) != 0 &&
                bias * 2LL % (1 << right) == 0;
      epilogue.bias.push_back(bias);
      epilogue.mantissas.push_back(mantissa);
      epilogue.rights.push_back(right);
    }
    for (int64_t m = 0; round % 4 == 0 && m < epilogue.m; ++m) {
      epilogue.row_term.push_back(static_cast<int32_t>(random() % (1u << 29)) - (1 << 28));
    }
    CheckEpilogue(epilogue);
  }
  CHECK(n_ties > 20);
}

TEST_CASE("integer gemm: panels with and without single factors", "[ops][sets]") {
  std::mt19937 random(6);
  int n_none = 0;
  for (int round = 0; round < 200; ++round) {
    Epilogue epilogue;
    epilogue.m = 1 + round % 37;
    epilogue.n = 1 + round % 113;
    epilogue.zero_point = -128 + static_cast<int32_t>(random() % 256);
    if (round % 2 == 0) epilogue.least = epilogue.zero_point;
    const int64_t padded = (epilogue.n + kColumnPad - 1) / kColumnPad * kColumnPad;
    for (int64_t c = 0; c < padded; ++c) {
      const bool none = random() % 40 == 0;  // of some columns: their panels do without
      n_none += none;
      epilogue.mantissas.push_back(none ? 1 << 30
                                        : (1 << 30) + static_cast<int32_t>(random() >> 2));
      epilogue.rights.push_back(static_cast<int32_t>(5 + random() % 6));
      epilogue.bias.push_back(static_cast<int32_t>(random() % 200000) - 50000);
    }
    for (int64_t m = 0; m < epilogue.m; ++m) {
      epilogue.row_term.push_back(static_cast<int32_t>(random() % (1u << 18)) - (1 << 16));
    }
    epilogue.is_narrow = true;
    CheckEpilogue(epilogue);
  }
  CHECK(n_none > 20);
}

struct Product {
  int64_t m, n, runs, run_k;
  bool over_read, is_unsigned, transposed;
  int bits;  // of a weight
};

// A, W and where the segments of A lie. Between them is what must not be added; A's memory ends
// where it may be read to.
struct Factors {
  std::vector<uint8_t> a, w;
  std::vector<int64_t> row_offsets, run_offsets;
};

Factors MakeFactors(const Product& p, std::mt19937* random) {
  Factors f;
  const int64_t gap = 1 + static_cast<int64_t>((*random)() % 3);
  for (int64_t r = 0; r < p.runs; ++r) f.run_offsets.push_back(r * (p.run_k + gap));
  const int64_t row = p.runs * (p.run_k + gap) - gap;
  for (int64_t m = 0; m < p.m; ++m) f.row_offsets.push_back((p.m - 1 - m) * (row + 1));
  f.a.resize(static_cast<size_t>(p.m * (row + 1) - 1 + (p.over_read ? kOverRead : 0)));
  f.w.resize(static_cast<size_t>(p.n * p.runs * p.run_k));
  for (std::vector<uint8_t>* bytes : {&f.a, &f.w}) {
    const int extremes = static_cast<int>((*random)() % 4);  // 0: 127 and -128 alone
    for (uint8_t& byte : *bytes) {
      byte = static_cast<uint8_t>((*random)());
      if (extremes == 0) byte = byte & 1 ? 0x7f : 0x80;
    }
  }
  return f;
}

// Value k of row n of W.
int32_t WeightOf(const Product& p, const Factors& f, int64_t n, int64_t k) {
  const int64_t index = p.transposed ? k * p.n + n : n * p.runs * p.run_k + k;
  if (p.bits < 8) return PackedAt(f.w.data(), index, p.bits);
  return static_cast<int8_t>(f.w[static_cast<size_t>(index)]);
}

// The bytes of A as 16-bit values.
std::vector<int16_t> Widened(const CpuKernels& cpu, const Product& p, const Factors& f) {
  std::vector<int16_t> wide(f.a.size());
  cpu.integer->widen(f.a.data(), static_cast<int64_t>(f.a.size()), p.is_unsigned, 0, wide.data());
  return wide;
}

std::vector<int64_t> Twice(std::vector<int64_t> offsets) {
  for (int64_t& offset : offsets) offset *= 2;
  return offsets;
}

void CheckProduct(const CpuKernels& cpu, const IntegerGemm& gemm, const Product& p,
                  const Factors& f) {
  IntegerWeights weights;
  weights.data = f.w.data();
  weights.n = p.n;
  weights.runs = p.runs;
  weights.run_k = p.run_k;
  weights.transposed = p.transposed;
  weights.bits = p.bits;
  std::vector<uint8_t> packed(gemm.packed_bytes(p.n, p.runs, p.run_k));
  gemm.pack(weights, 0, gemm.n_panels(p.n), packed.data());
  std::vector<int32_t> c(static_cast<size_t>(p.m * p.n), 12345), sums(static_cast<size_t>(p.m));
  const std::vector<int16_t> wide = Widened(cpu, p, f);
  const std::vector<int64_t> wide_rows = Twice(f.row_offsets), wide_runs = Twice(f.run_offsets);
  IntegerTask task;
  task.a = gemm.bytes ? f.a.data() : reinterpret_cast<const uint8_t*>(wide.data());
  task.row_offsets = gemm.bytes ? f.row_offsets.data() : wide_rows.data();
  task.run_offsets = gemm.bytes ? f.run_offsets.data() : wide_runs.data();
  task.runs = p.runs;
  task.run_k = p.run_k;
  task.over_read = p.over_read;
  if (gemm.bytes) task.flip = p.is_unsigned ? cpu.integer->flip_uint8 : cpu.integer->flip_int8;
  task.packed = packed.data();
  task.m = p.m;
  task.n = p.n;
  task.panel_end = gemm.n_panels(p.n);
  task.epilogue = IntegerEpilogue::kSums;
  task.c = c.data();
  task.ldc = p.n;
  gemm.run(task);
  if (gemm.bytes) gemm.row_sums(task, sums.data());
  const int32_t shift = task.flip == 0 ? 0 : p.is_unsigned ? -128 : 128;
  int n_wrong = 0;
  for (int64_t m = 0; m < p.m; ++m) {
    std::vector<int32_t> row;  // of A, in the processor's sign
    for (int64_t i = 0; i < p.runs * p.run_k; ++i) {
      const uint8_t* run = f.a.data() + f.row_offsets[static_cast<size_t>(m)] +
                           f.run_offsets[static_cast<size_t>(i / p.run_k)];
      const uint8_t byte = run[i % p.run_k];
      row.push_back(shift + (p.is_unsigned ? int{byte} : int{static_cast<int8_t>(byte)}));
    }
    int32_t row_sum = 0;
    for (int32_t value : row) row_sum += value;
    n_wrong += gemm.bytes && sums[static_cast<size_t>(m)] != row_sum;
    const int32_t* w_sums = gemm.sums(packed.data(), p.n, p.runs, p.run_k);
    for (int64_t n = 0; n < p.n; ++n) {
      int32_t sum = 0, w_sum = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        const int32_t w = WeightOf(p, f, n, static_cast<int64_t>(i));
        sum += row[i] * w;
        w_sum += w;
      }
      n_wrong += c[static_cast<size_t>(m * p.n + n)] != sum || w_sums[n] != w_sum;
    }
  }
  INFO(gemm.tag << ": " << p.m << " x " << p.n << " x " << p.runs << " runs of " << p.run_k
                << (p.over_read ? ", read beyond" : "") << (p.is_unsigned ? ", unsigned" : "")
                << (p.transposed ? ", transposed" : "") << ", weights of " << p.bits << " bits");
  CHECK(n_wrong == 0);
}

void CheckProducts(const CpuKernels& cpu, const IntegerGemm& gemm, std::mt19937* random) {
  const auto below = [&](unsigned n) { return static_cast<int64_t>((*random)() % n); };
  for (int64_t i = 0; i < 300; ++i) {
    Product p = {1 + i % 19,    1 + below(50), 1 + below(3),  1 + i % 35,
                 below(2) == 0, below(2) == 0, below(3) == 0, static_cast<int>(2 << below(3))};
    if (i % 60 == 0) p.run_k += 300;
    CheckProduct(cpu, gemm, p, MakeFactors(p, random));
  }
  for (const int64_t m : {251, 253, 256, 257, 503, 505, 511, 512, 513, 1024}) {  // blocks of rows
    const Product p = {m, 1 + below(20), 1, 1 + below(9), below(2) == 0, below(2) == 0, false, 8};
    CheckProduct(cpu, gemm, p, MakeFactors(p, random));
  }
}

// Panels larger than the cache, by any number of rows.
void CheckLargePanels(const CpuKernels& cpu, std::mt19937* random) {
  int i = 0;
  for (const int64_t m : {17, 18, 31, 33, 49, 64}) {
    for (const int64_t n : {33, 64, 97}) {
      const int64_t runs = 1 + i % 3, run_k = (runs == 1 ? 2048 : 704) + (i % 5 == 4 ? 4 : 0);
      const Product p = {m, n, runs, run_k, false, i % 2 == 0, false, 8};
      Factors f = MakeFactors(p, random);
      // Two rows change places: the step between rows is not the same.
      if (i % 4 < 2) std::swap(f.row_offsets[3], f.row_offsets[static_cast<size_t>(m) - 2]);
      CheckProduct(cpu, *cpu.integer->bytes, p, f);
      ++i;
    }
  }
}

TEST_CASE("integer gemm: sums of bytes are exact at every height, width and depth", "[ops][sets]") {
  std::mt19937 random(7);
  const std::set<std::string> with_bytes = {"amx",    "amx_emulated", "avxvnni", "avxvnni_evex",
                                            "avx512", "dotprod",      "i8mm"};
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    CHECK((cpu->integer->bytes != nullptr) == (with_bytes.count(cpu->isa) != 0));
    if (cpu->integer->bytes == nullptr) continue;
    CheckProducts(*cpu, *cpu->integer->bytes, &random);
    CheckLargePanels(*cpu, &random);
  }
}

TEST_CASE("integer gemm: sums of 16-bit values are exact, too, by weights of either width",
          "[ops][sets]") {
  std::mt19937 random(8);
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    CheckProducts(*cpu, *cpu->integer->int16, &random);
    if (cpu->integer->narrow == nullptr) continue;
    CHECK(cpu->integer->narrow->packed_bytes(64, 3, 20) <
          cpu->integer->int16->packed_bytes(64, 3, 20));
    CheckProducts(*cpu, *cpu->integer->narrow, &random);
  }
}

// Rows of A with their scale and zero point, W in 4 bits, and a scale for every run of a column.
struct Blocks {
  int64_t m, n, runs, run_k;
  std::vector<int8_t> a, w;
  std::vector<float> row_scale, run_scale, bias;  // run_scale: [runs, padded columns]
  std::vector<int32_t> row_zero;

  size_t padded() const {
    return static_cast<size_t>((n + kColumnPad - 1) / kColumnPad * kColumnPad);
  }
  int WeightAt(int64_t column, int64_t k) const {
    return PackedAt(reinterpret_cast<const uint8_t*>(w.data()), column * runs * run_k + k, 4);
  }
  double Expected(int64_t row, int64_t column) const {
    const size_t r = static_cast<size_t>(row), c = static_cast<size_t>(column);
    double sum = 0;
    for (int64_t k = 0; k < runs * run_k; ++k) {
      const int x = a[r * static_cast<size_t>(runs * run_k) + static_cast<size_t>(k)] - row_zero[r];
      sum += static_cast<double>(run_scale[static_cast<size_t>(k / run_k) * padded() + c]) * x *
             WeightAt(column, k);
    }
    return sum * static_cast<double>(row_scale[r]) + static_cast<double>(bias[c]);
  }
};

Blocks MakeBlocks(int64_t m, int64_t n, int64_t runs, int64_t run_k, std::mt19937* random) {
  Blocks b = {m, n, runs, run_k, {}, {}, {}, {}, {}, {}};
  b.a.resize(static_cast<size_t>(m * runs * run_k));
  b.w.resize(static_cast<size_t>((n * runs * run_k + 1) / 2));
  for (std::vector<int8_t>* bytes : {&b.a, &b.w}) {
    for (int8_t& byte : *bytes) byte = static_cast<int8_t>((*random)());
  }
  const auto unit = [&] { return 0.01f + static_cast<float>((*random)() % 100) * 0.001f; };
  for (int64_t i = 0; i < m; ++i) b.row_scale.push_back(unit());
  for (int64_t i = 0; i < m; ++i) {
    b.row_zero.push_back(static_cast<int32_t>((*random)() % 256) - 128);
  }
  for (int64_t i = 0; i < n; ++i) b.bias.push_back(unit() - 0.05f);
  b.run_scale.assign(static_cast<size_t>(runs) * b.padded(), 0.0f);
  for (float& scale : b.run_scale) scale = unit();
  return b;
}

std::vector<float> RunBlocks(const IntegerGemm& gemm, int32_t flip, const Blocks& b, bool nibbles) {
  IntegerWeights weights;
  weights.data = reinterpret_cast<const uint8_t*>(b.w.data());
  weights.n = b.n;
  weights.runs = b.runs;
  weights.run_k = b.run_k;
  weights.bits = 4;
  weights.nibbles = nibbles;
  std::vector<uint8_t> packed(gemm.packed_bytes(b.n, b.runs, nibbles ? b.run_k / 2 : b.run_k));
  gemm.pack(weights, 0, gemm.n_panels(b.n), packed.data());
  const std::vector<int16_t> wide(b.a.begin(), b.a.end());
  const int64_t size = gemm.bytes ? 1 : 2, depth = b.runs * b.run_k;
  std::vector<int64_t> offsets;
  for (int64_t run = 0; run < b.runs; ++run) offsets.push_back(run * b.run_k * size);
  std::vector<int32_t> zeros = b.row_zero;
  for (int32_t& zero : zeros) zero += gemm.bytes && flip != 0 ? 128 : 0;
  std::vector<float> scaled_sums(b.padded(), 0.0f);
  for (int64_t n = 0; n < b.n; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      const size_t at = static_cast<size_t>(k / b.run_k) * b.padded() + static_cast<size_t>(n);
      scaled_sums[static_cast<size_t>(n)] += b.run_scale[at] * static_cast<float>(b.WeightAt(n, k));
    }
  }
  std::vector<float> run_scale = b.run_scale;
  for (float& scale : run_scale) scale *= nibbles ? 1.0f / 16 : 1.0f;
  std::vector<float> c(static_cast<size_t>(b.m * b.n), 12345.0f);
  IntegerTask task;
  task.nibbles = nibbles;
  task.a = gemm.bytes ? reinterpret_cast<const uint8_t*>(b.a.data())
                      : reinterpret_cast<const uint8_t*>(wide.data());
  task.lda = depth * size;
  task.run_offsets = offsets.data();
  task.runs = b.runs;
  task.run_k = b.run_k;
  task.flip = gemm.bytes ? static_cast<uint8_t>(flip) : 0;
  task.packed = packed.data();
  task.m = b.m;
  task.n = b.n;
  task.panel_end = gemm.n_panels(b.n);
  task.epilogue = IntegerEpilogue::kFloat;
  task.c = c.data();
  task.ldc = b.n;
  task.run_scale = run_scale.data();
  task.run_scale_step = static_cast<int64_t>(b.padded());
  task.scaled_sums = scaled_sums.data();
  task.row_scale = b.row_scale.data();
  task.row_zero = zeros.data();
  task.row_step = 1;
  task.float_bias = b.bias.data();
  task.lo = -1e30f;
  task.hi = 1e30f;
  gemm.run(task);
  return c;
}

// The largest difference from Expected, in units of the largest output.
double Difference(const Blocks& b, const std::vector<float>& c) {
  double most = 1e-9, worst = 0;
  for (int64_t i = 0; i < b.m * b.n; ++i) {
    const double expected = b.Expected(i / b.n, i % b.n);
    most = std::max(most, std::fabs(expected));
    worst = std::max(worst, std::fabs(expected - static_cast<double>(c[static_cast<size_t>(i)])));
  }
  return worst / most;
}

TEST_CASE("integer gemm: a scale for every run", "[ops][sets]") {
  std::mt19937 random(11);
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    for (const IntegerGemm* gemm : {cpu->integer->bytes, cpu->integer->int16}) {
      if (gemm == nullptr) continue;
      for (int64_t i = 0; i < 60; ++i) {
        const int64_t m = i % 3 == 0 ? 1 : 1 + i % 11, n = 1 + i * 7 % 90;
        const int64_t run_k = i % 4 == 0 ? 1 + i % 9 : 8 << (i % 6);
        const Blocks blocks = MakeBlocks(m, n, 1 + i % 5, run_k, &random);
        INFO(gemm->tag << ": " << m << " x " << n << " x " << blocks.runs << " runs of " << run_k);
        const std::vector<float> c = RunBlocks(*gemm, cpu->integer->flip_int8, blocks, false);
        CHECK(Difference(blocks, c) < 1e-4);
        if (!gemm->nibbles || run_k % 8 != 0) continue;
        CHECK(RunBlocks(*gemm, cpu->integer->flip_int8, blocks, true) == c);
      }
    }
  }
}

}  // namespace integer_gemm_test
}  // namespace topwork
