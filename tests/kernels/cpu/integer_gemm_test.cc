// The 8-bit ending of the integer GEMM of every instruction set this processor has, beside
// MultiplyByFactor: sums come from the bias alone, for A is zero.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "kernels/quant.h"

namespace topwork {
namespace integer_gemm_test {

constexpr int64_t kColumns = 3 * kColumnPad;

struct Ending {
  std::vector<int32_t> bias, mantissas, rights;
  int32_t least = -128, most = 127, zero_point = 0;
};

std::vector<int8_t> RunEnding(const IntegerGemm& gemm, const Ending& ending, bool small) {
  std::vector<uint8_t> zeros(static_cast<size_t>(kColumns) * 4, 0);
  IntegerWeights weights;
  weights.data = zeros.data();
  weights.n = kColumns;
  weights.run_k = 4;
  std::vector<uint8_t> packed(gemm.packed_bytes(kColumns, 1, 4) + 64);
  gemm.pack(weights, 0, gemm.n_panels(kColumns), packed.data());
  std::vector<int8_t> out(2 * kColumns, 99);
  IntegerTask task;
  task.a = zeros.data();
  task.lda = 8;
  task.run_k = 4;
  task.packed = packed.data();
  task.m = 2;
  task.n = kColumns;
  task.panel_end = gemm.n_panels(kColumns);
  task.c = out.data();
  task.ldc = kColumns;
  task.factors.mantissa = ending.mantissas.data();
  task.factors.right = ending.rights.data();
  task.factors.small = small;
  task.least = ending.least - ending.zero_point;
  task.most = ending.most - ending.zero_point;
  task.bias = ending.bias.data();
  task.zero_point = ending.zero_point;
  gemm.run(task);
  return out;
}

int8_t Expected(const Ending& ending, size_t c) {
  const int32_t scaled = MultiplyByFactor(ending.bias[c], {ending.mantissas[c], -ending.rights[c]});
  const int32_t low = ending.least - ending.zero_point, high = ending.most - ending.zero_point;
  return static_cast<int8_t>(std::min(std::max(scaled, low), high) + ending.zero_point);
}

void CheckEnding(const Ending& ending) {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    const IntegerKernels& integer = *tables[t]->integer;
    for (const IntegerGemm* gemm : {integer.bytes, integer.halves}) {
      if (gemm == nullptr) continue;
      for (const bool small : {false, true}) {
        const std::vector<int8_t> out = RunEnding(*gemm, ending, small);
        for (size_t i = 0; i < out.size(); ++i) {
          const size_t c = i % static_cast<size_t>(kColumns);
          if (out[i] == Expected(ending, c)) continue;
          FAIL(gemm->tag << ", small " << small << ": " << ending.bias[c] << " * "
                         << ending.mantissas[c] << " >> " << ending.rights[c] << " became "
                         << int{out[i]} << ", not " << int{Expected(ending, c)});
        }
      }
    }
  }
}

TEST_CASE("integer gemm: small factors round as two roundings do", "[ops]") {
  std::mt19937 random(5);
  const int32_t extremes[] = {1 << 30, (1 << 30) + 1, INT32_MAX, INT32_MAX - 1, 1518500250};
  int n_ties = 0;
  for (int round = 0; round < 400; ++round) {
    Ending ending;
    ending.zero_point = static_cast<int32_t>(random() % 256) - 128;
    if (round % 3 == 0) ending.least = ending.zero_point;
    for (int64_t c = 0; c < kColumns; ++c) {
      const int32_t right = 1 + static_cast<int32_t>(random() % 20);
      const int32_t mantissa = random() % 2 == 0
                                   ? extremes[random() % 5]
                                   : (1 << 30) + static_cast<int32_t>(random() % (1u << 30));
      // Around halves of the output's steps, and anything.
      const double step = 4294967296.0 / mantissa * static_cast<double>(int64_t{1} << (right - 1));
      const double half = (static_cast<int>(random() % 400) - 200) * 0.5 * step;
      int32_t bias = static_cast<int32_t>(half) + static_cast<int32_t>(random() % 5) - 2;
      if (random() % 8 == 0) bias = static_cast<int32_t>(random() >> 1) * (c % 2 == 0 ? 1 : -1);
      if (random() % 16 == 0) bias = static_cast<int32_t>(random() % 7) - 3;
      bias = std::min(std::max(bias, -(1 << 30)), 1 << 30);
      n_ties += mantissa == 1 << 30 && bias % (1 << right) != 0 && bias * 2LL % (1 << right) == 0;
      ending.bias.push_back(bias);
      ending.mantissas.push_back(mantissa);
      ending.rights.push_back(right);
    }
    CheckEnding(ending);
  }
  CHECK(n_ties > 20);
}

}  // namespace integer_gemm_test
}  // namespace topwork
