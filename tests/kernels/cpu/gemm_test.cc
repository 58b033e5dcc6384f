// The packed GEMM of every instruction set this processor has, against double precision. Products of
// 16-bit numbers get numbers of few bits: they are then as exact as float32's.
#include "kernels/cpu/gemm.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/contract/cpu_kernels.h"
#include "runtime/tensor/tensor.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

struct GemmProblem {
  int64_t m, n, k;
  bool bias, residual;
  float lo, hi;
};

std::vector<float> GemmReference(const GemmProblem& p, const std::vector<float>& a,
                                 const std::vector<float>& w, const std::vector<float>& bias,
                                 const std::vector<float>& residual) {
  std::vector<float> c(static_cast<size_t>(p.m * p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = p.bias ? static_cast<double>(bias[static_cast<size_t>(j)]) : 0.0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<double>(a[static_cast<size_t>(i * p.k + k)]) *
               static_cast<double>(w[static_cast<size_t>(j * p.k + k)]);
      }
      const size_t at = static_cast<size_t>(i * p.n + j);
      if (p.residual) sum += static_cast<double>(residual[at]);
      sum = std::max(sum, static_cast<double>(p.lo));
      c[at] = static_cast<float>(std::min(sum, static_cast<double>(p.hi)));
    }
  }
  return c;
}

std::vector<float> PackAll(const GemmKernels& kernels, const GemmWeights& weights) {
  std::vector<float> packed(static_cast<size_t>(kernels.packed_size(weights.n, weights.k)) + 1,
                            7.0f);
  // Panel by panel, from the last: their places must not depend on the order.
  for (int64_t p = kernels.n_panels(weights.n); p-- > 0;) {
    kernels.pack(weights, p, p + 1, packed.data());
  }
  CHECK(packed.back() == 7.0f);  // nothing written beyond the size announced
  return packed;
}

GemmWeights PlainWeights(const GemmProblem& p, const std::vector<float>& w) {
  GemmWeights weights;
  weights.data = w.data();
  weights.n = p.n;
  weights.k = weights.depth[2] = p.k;
  weights.stride_n = p.k;
  return weights;
}

// Of all instruction sets, those of 16-bit products included.
std::vector<const GemmKernels*> TestedGemms() {
  std::vector<const GemmKernels*> gemms;
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    gemms.push_back(tables[t]->gemm);
    if (gemms.back()->ragged != nullptr) gemms.push_back(gemms.back()->ragged);
    const GemmKernels* half = HalfProductsOf(*tables[t]);
    if (half != nullptr) gemms.push_back(half);
  }
  const GemmKernels* twin = TwinOfHalfProducts();
  if (twin != nullptr) gemms.push_back(twin);
  return gemms;
}

std::vector<const GemmKernels*> TestedHalfGemms() {
  std::vector<const GemmKernels*> gemms = TestedGemms();
  const auto is_float = [](const GemmKernels* gemm) { return gemm->half == nullptr; };
  gemms.erase(std::remove_if(gemms.begin(), gemms.end(), is_float), gemms.end());
  return gemms;
}

bool IsFloat16(const GemmKernels& gemm) { return gemm.half == std::string("float16"); }

// Packed and run.
std::vector<float> Multiply(const GemmKernels& kernels, GemmTask task, const GemmWeights& weights) {
  const std::vector<float> packed = PackAll(kernels, weights);
  std::vector<float> work(static_cast<size_t>(task.m * task.runs * (task.k / 2 + 1)));
  std::vector<float> c(static_cast<size_t>(task.m * task.n), NAN);
  task.packed = packed.data();
  task.c = c.data();
  task.ldc = task.n;
  task.panel_end = kernels.n_panels(task.n);
  task.lo = -std::numeric_limits<float>::infinity();
  task.hi = -task.lo;
  task.work = work.data();
  kernels.run(task);
  return c;
}

void CheckGemm(const GemmKernels& kernels, const GemmProblem& p) {
  INFO(kernels.tag << " " << p.m << " x " << p.n << " x " << p.k);
  const auto random = kernels.half != nullptr ? RandomEighths : RandomFloats;
  const std::vector<float> a = random(static_cast<size_t>(p.m * p.k), 1);
  const std::vector<float> w = random(static_cast<size_t>(p.n * p.k), 2);
  const std::vector<float> bias = RandomFloats(static_cast<size_t>(p.n), 3);
  const std::vector<float> residual = RandomFloats(static_cast<size_t>(p.m * p.n), 4);
  const std::vector<float> packed = PackAll(kernels, PlainWeights(p, w));
  // The result overwrites the residual in place, as plans let it.
  std::vector<float> c = p.residual ? residual : std::vector<float>(residual.size(), NAN);
  GemmTask task;
  task.a = a.data();
  task.lda = p.k;
  task.packed = packed.data();
  task.bias = p.bias ? bias.data() : nullptr;
  task.residual = p.residual ? c.data() : nullptr;
  task.c = c.data();
  task.ldc = task.ldr = p.n;
  task.m = p.m;
  task.n = p.n;
  task.k = p.k;
  task.panel_end = kernels.n_panels(p.n);
  task.lo = p.lo;
  task.hi = p.hi;
  std::vector<float> work(static_cast<size_t>(p.m * ((p.k + 1) / 2)) + 1, 7.0f);
  task.work = work.data();
  kernels.run(task);
  CHECK(work.back() == 7.0f);  // nothing written beyond what the task may use
  CHECK(LargestDifference(c, GemmReference(p, a, w, bias, residual)) < 1e-5);
}

constexpr float kGemmInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("gemm: every tile height and column remainder", "[ops][sets]") {
  for (const GemmKernels* gemm : TestedGemms()) {
    for (int64_t m = 1; m <= 19; ++m) {
      for (int64_t n = 1; n <= 2 * gemm->max_columns + 1; n += 3) {
        CheckGemm(*gemm, {m, n, 5, (m + n) % 2 == 0, n % 3 == 0, -kGemmInfinity, kGemmInfinity});
      }
    }
    for (int64_t n : {15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 96, 100}) {
      CheckGemm(*gemm, {13, n, 67, true, false, 0.0f, 6.0f});
      CheckGemm(*gemm, {13, n, 67, true, true, -1.0f, 1.0f});
    }
    for (int64_t k = 1; k <= 70; ++k) {
      CheckGemm(*gemm, {2, 18, k, true, false, -kGemmInfinity, kGemmInfinity});
    }
    // No depth: bias and residual.
    CheckGemm(*gemm, {3, 20, 0, true, true, -kGemmInfinity, kGemmInfinity});
    CheckGemm(*gemm, {1, 1000, 129, true, false, -kGemmInfinity, kGemmInfinity});
    CheckGemm(*gemm, {200, 70, 300, false, false, -kGemmInfinity, kGemmInfinity});
    CheckGemm(*gemm, {3, 50, 600, false, false, -kGemmInfinity, kGemmInfinity});
  }
}

TEST_CASE("gemm: transposed and boxed weights pack to the same bytes", "[ops][sets]") {
  const GemmProblem p{1, 37, 24, false, false, -kGemmInfinity, kGemmInfinity};
  const std::vector<float> w = RandomFloats(37 * 24, 5);
  std::vector<float> turned(w.size()), reversed(w.size());
  for (size_t n = 0; n < 37; ++n) {
    for (size_t k = 0; k < 24; ++k) {
      turned[k * 37 + n] = w[n * 24 + k];
      // k = (i, j, l) of 2 x 3 x 4, stored with j backwards.
      const size_t i = k / 12, j = k / 4 % 3, l = k % 4;
      reversed[n * 24 + i * 12 + (2 - j) * 4 + l] = w[n * 24 + k];
    }
  }
  for (const GemmKernels* gemm : TestedGemms()) {
    const GemmKernels& kernels = *gemm;
    const std::vector<float> packed = PackAll(kernels, PlainWeights(p, w));
    GemmWeights weights = PlainWeights(p, turned);
    weights.stride_n = 1;
    weights.stride_k[2] = 37;
    CHECK(PackAll(kernels, weights) == packed);
    weights = PlainWeights(p, reversed);
    weights.data += 8;
    weights.depth[0] = 2;
    weights.depth[1] = 3;
    weights.depth[2] = 4;
    weights.stride_k[0] = 12;
    weights.stride_k[1] = -4;
    CHECK(PackAll(kernels, weights) == packed);
  }
}

TEST_CASE("gemm: float16 weights pack to the bytes of their float32 values", "[ops][sets]") {
  for (const GemmKernels* gemm : TestedGemms()) {
    CHECK_FALSE((gemm->packs_halves && gemm->of_halves != nullptr));  // one way of the two
    if (!gemm->packs_halves) continue;
    for (int64_t n : {1, 3, 15, 16, 17, 37, 49, 100}) {
      for (int64_t k : {1, 2, 7, 15, 16, 17, 33, 64}) {
        const GemmProblem p{1, n, k, false, false, -kGemmInfinity, kGemmInfinity};
        std::vector<float> w = RandomFloats(static_cast<size_t>(n * k), 6);
        w[0] = HalfToFloat(0x7c00);  // infinity, a subnormal number, -0
        w.back() = n > 1 ? HalfToFloat(0x0001) : -0.0f;
        std::vector<uint16_t> halves;
        std::vector<float> turned(w.size());
        for (size_t i = 0; i < w.size(); ++i) {
          halves.push_back(FloatToHalf(w[i]));
          w[i] = HalfToFloat(halves[i]);
          turned[i % static_cast<size_t>(k) * static_cast<size_t>(n) + i / static_cast<size_t>(k)] =
              w[i];
        }
        const std::vector<float> packed = PackAll(*gemm, PlainWeights(p, w));
        GemmWeights weights = PlainWeights(p, w);
        weights.data = nullptr;
        weights.half = halves.data();
        INFO(gemm->tag << " " << n << " x " << k);
        CHECK(PackAll(*gemm, weights) == packed);
        weights.half = nullptr;
        weights.data = turned.data();
        weights.stride_n = 1;
        weights.stride_k[2] = n;
        CHECK(PackAll(*gemm, weights) == packed);
      }
    }
  }
}

TEST_CASE("gemm: weights that stay float16 give the bits of float32's", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    const GemmKernels& gemm = *tables[t]->gemm;
    const std::string isa = tables[t]->isa;
    if (isa == "avx2" || isa == "avx512" || isa == "dotprod") CHECK(gemm.of_halves != nullptr);
    CHECK_FALSE((gemm.packs_halves && gemm.of_halves != nullptr));  // one way of the two
    if (gemm.of_halves == nullptr) continue;
    for (int64_t m : {1, 2, 3, 5, 8, 13, 29}) {
      for (int64_t n : {1, 8, 17, 40, 48, 49, 100}) {
        for (int64_t k : {1, 2, 7, 64, 65, 1160}) {
          std::vector<float> w = RandomFloats(static_cast<size_t>(n * k), 7);
          std::vector<uint16_t> halves;
          for (float& value : w) {
            if (halves.size() % 5 == 2) value *= 1e-6f;  // subnormal
            halves.push_back(FloatToHalf(value));
            value = HalfToFloat(halves.back());
          }
          const std::vector<float> a = RandomFloats(static_cast<size_t>(m * k), 8);
          GemmTask task;
          task.a = a.data();
          task.lda = task.k = k;
          task.m = m;
          task.n = n;
          GemmWeights weights = PlainWeights({m, n, k, false, false, 0.0f, 0.0f}, w);
          const std::vector<float> wanted = Multiply(gemm, task, weights);
          weights.data = nullptr;
          weights.half = halves.data();
          const std::vector<float> c = Multiply(*gemm.of_halves, task, weights);
          INFO(isa << " " << m << " x " << n << " x " << k);
          CHECK(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(float)) == 0);
          CHECK(2 * gemm.of_halves->packed_size(n, k) == gemm.packed_size(n, k));
        }
      }
    }
  }
}

#if defined(__x86_64__)  // kPacksLate
TEST_CASE("gemm: a row by weights as they lie gives the bits of packed ones", "[ops][sets]") {
  for (const GemmKernels* table : TestedGemms()) {
    const GemmKernels& gemm = *table;
    if (gemm.of_rows == nullptr) continue;
    for (int64_t n : {1, 8, 15, 16, 17, 40, 48, 49, 100, 130}) {
      for (int64_t k : {1, 2, 7, 8, 15, 16, 17, 64, 65, 1160}) {
        INFO(gemm.tag << " " << n << " x " << k);
        const std::vector<float> a = RandomFloats(static_cast<size_t>(k), 1);
        std::vector<float> w = RandomFloats(static_cast<size_t>(n * k), 2);
        const std::vector<float> packed =
            PackAll(gemm, PlainWeights({1, n, k, false, false, 0.0f, 0.0f}, w));
        w.resize(w.size() + 200, NAN);  // must not change anything
        const std::vector<float> ends = RandomFloats(static_cast<size_t>(n), 3);
        for (bool more : {false, true}) {
          std::vector<float> wanted(static_cast<size_t>(n), NAN), c = wanted;
          GemmTask task;
          task.a = a.data();
          task.lda = task.k = k;
          task.m = 1;
          task.n = task.ldc = task.ldr = n;
          task.bias = task.residual = more ? ends.data() : nullptr;
          task.hi = kGemmInfinity;
          for (int64_t p = 0; p < gemm.n_panels(n); ++p) {
            task.panel_begin = p;
            task.panel_end = p + 1;
            task.packed = packed.data();
            task.c = wanted.data();
            gemm.run(task);
            task.packed = w.data();
            task.c = c.data();
            gemm.of_rows->run(task);
          }
          CHECK(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(float)) == 0);
        }
      }
    }
  }
}
#endif

TEST_CASE("gemm: a NaN passes the clamp", "[ops][sets]") {
  for (const GemmKernels* gemm : TestedGemms()) {
    const GemmKernels& kernels = *gemm;
    const std::vector<float> ones(64, 1.0f);
    GemmTask task;
    const float a = NAN;
    float c[64], work[1];
    const std::vector<float> packed =
        PackAll(kernels, PlainWeights({1, 64, 1, false, false, 0.0f, 6.0f}, ones));
    task.a = &a;
    task.lda = task.k = task.m = 1;
    task.packed = packed.data();
    task.c = c;
    task.work = work;
    task.n = task.ldc = 64;
    task.hi = 6.0f;
    task.panel_end = kernels.n_panels(64);
    kernels.run(task);
    CHECK(std::isnan(c[0]));
    CHECK(std::isnan(c[63]));
  }
}

// Windows of 3 rows of an image: rows of A that overlap, or that lie apart.
TEST_CASE("gemm: windows read in place are those that were gathered", "[ops][sets]") {
  const int64_t channels = 4, width = 23, run_k = 3 * channels, m = 10, n = 21;
  const std::vector<float> image = RandomEighths(static_cast<size_t>(3 * width * channels), 1);
  const std::vector<float> w = RandomEighths(static_cast<size_t>(n * 3 * run_k), 2);
  const GemmProblem p{m, n, 3 * run_k, false, false, -kGemmInfinity, kGemmInfinity};
  for (const int64_t stride : {1, 2, 3}) {
    if ((m - 1) * stride + 3 > width) continue;
    std::vector<float> gathered;
    for (int64_t x = 0; x < m; ++x) {
      for (int64_t y = 0; y < 3; ++y) {
        const auto at = image.begin() + (y * width + x * stride) * channels;
        gathered.insert(gathered.end(), at, at + run_k);
      }
    }
    for (const GemmKernels* gemm : TestedGemms()) {
      INFO(gemm->tag << " stride " << stride);
      GemmTask task;
      task.m = m;
      task.n = n;
      task.k = p.k;
      task.a = gathered.data();
      task.lda = p.k;
      const std::vector<float> expected = Multiply(*gemm, task, PlainWeights(p, w));
      task.a = image.data();
      task.lda = stride * channels;
      task.runs = 3;
      task.run_k = run_k;
      task.run_stride = width * channels;
      CHECK(LargestDifference(Multiply(*gemm, task, PlainWeights(p, w)), expected) < 1e-5);
    }
  }
}

TEST_CASE("gemm: 16-bit products round both factors to nearest, ties to even",
          "[ops][sets][half]") {
  const std::vector<const GemmKernels*> gemms = TestedHalfGemms();
  if (gemms.empty()) TW_SKIP("this processor has no 16-bit products");
  for (const GemmKernels* gemm : gemms) {
    INFO(gemm->tag);
    // 1 + step lies between two numbers, 1 + 3 * step as well, and 1 + step + tiny above the middle.
    const float step = IsFloat16(*gemm) ? 1.0f / 2048 : 1.0f / 256, tiny = 1.0f / (1 << 20);
    const std::vector<float> given = {1 + step, 1 + 3 * step, 1 + step + tiny, -1 - step, 1e-40f};
    const std::vector<float> rounded = {1, 1 + 4 * step, 1 + 2 * step, -1, 0};
    const float factor = 2.0f;
    std::vector<float> expected;
    for (float value : rounded) expected.push_back(value * factor);
    GemmTask task;
    task.lda = task.k = 1;
    task.m = 5;
    task.n = 1;
    task.a = given.data();
    const GemmProblem one{5, 1, 1, false, false, 0, 0}, five{1, 5, 1, false, false, 0, 0};
    CHECK(Multiply(*gemm, task, PlainWeights(one, {factor})) == expected);
    task.m = 1;
    task.n = 5;
    task.a = &factor;
    CHECK(Multiply(*gemm, task, PlainWeights(five, given)) == expected);
  }
}

// The sum of k products of a and w.
float SumOfEqual(const GemmKernels& gemm, int64_t k, float a, float w) {
  const std::vector<float> row(static_cast<size_t>(k), a), column(static_cast<size_t>(k), w);
  GemmTask task;
  task.a = row.data();
  task.m = task.n = 1;
  task.lda = task.k = k;
  return Multiply(gemm, task, PlainWeights({1, 1, k, false, false, 0, 0}, column))[0];
}

TEST_CASE("gemm: sums of 16-bit products are float32", "[ops][sets][half]") {
  const std::vector<const GemmKernels*> gemms = TestedHalfGemms();
  if (gemms.empty()) TW_SKIP("this processor has no 16-bit products");
  for (const GemmKernels* gemm : gemms) {
    INFO(gemm->tag);
    CHECK(SumOfEqual(*gemm, 64, 1.0f, 1.0f) == 64.0f);
    CHECK(SumOfEqual(*gemm, 20001, 1.0f, 1.0f) == 20001.0f);
    CHECK(SumOfEqual(*gemm, 64 * 63, 32.0f, 31.0f) == 64 * 63 * 32.0f * 31.0f);
  }
}

TEST_CASE("gemm: float16 products end at 65504, bfloat16 ones do not", "[ops][sets][half]") {
  const std::vector<const GemmKernels*> gemms = TestedHalfGemms();
  if (gemms.empty()) TW_SKIP("this processor has no 16-bit products");
  for (const GemmKernels* gemm : gemms) {
    INFO(gemm->tag);
    const bool ends = IsFloat16(*gemm);
    CHECK(SumOfEqual(*gemm, 1, 65504.0f, 1.0f) == (ends ? 65504.0f : 65536.0f));
    CHECK(SumOfEqual(*gemm, 1, 1.0f, 131072.0f) == (ends ? kGemmInfinity : 131072.0f));
    CHECK(SumOfEqual(*gemm, 1, -131072.0f, 1.0f) == (ends ? -kGemmInfinity : -131072.0f));
    CHECK(SumOfEqual(*gemm, 64, 32.0f, 64.0f) == (ends ? kGemmInfinity : 131072.0f));
    // A subnormal float16 number.
    CHECK(SumOfEqual(*gemm, 1, 1.0f, 1.0f / (1 << 20)) == 1.0f / (1 << 20));
  }
}

}  // namespace test
}  // namespace topwork
