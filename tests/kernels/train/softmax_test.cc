// Softmax of many rows at once beside one row in portable code, on every instruction set.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace softmax_test {

struct Rows {
  std::vector<float> logits, scales;
  std::vector<int32_t> labels, best;
  std::vector<double> losses;
  SoftmaxStep step(int64_t n_classes, int64_t first, int64_t n) {
    return {logits.data() + first * n_classes,
            n,
            n_classes,
            labels.data() + first,
            scales.data() + first,
            losses.data() + first,
            best.data() + first};
  }
};

Rows Draw(int64_t n, int64_t n_classes) {
  Rows rows;
  rows.logits = test::RandomFloats(static_cast<size_t>(n * n_classes), 7);
  for (float& logit : rows.logits) logit *= 8.0f;
  for (int64_t b = 0; b < n; ++b) {
    rows.labels.push_back(static_cast<int32_t>(b % n_classes));
    rows.scales.push_back(0.5f + static_cast<float>(b));
  }
  rows.best.resize(static_cast<size_t>(n));
  rows.losses.resize(static_cast<size_t>(n));
  return rows;
}

TEST_CASE("softmax kernel: many rows are each as one in portable code", "[train]") {
  constexpr int64_t kRows = 37;
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    const TrainKernels& kernels = TrainKernelsFor(*cpu);
    for (int64_t n_classes : {1, 2, 3, 10, 32, 33, 100}) {
      INFO(kernels.isa << ", " << n_classes << " classes");
      const Rows drawn = Draw(kRows, n_classes);
      Rows all = drawn;
      kernels.softmax_cross_entropy(all.step(n_classes, 0, kRows));
      Rows alone = drawn;
      for (int64_t b = 0; b < kRows; ++b) {
        kernels.softmax_cross_entropy(alone.step(n_classes, b, 1));
      }
      CHECK(alone.logits == all.logits);
      CHECK(alone.losses == all.losses);
      Rows expected = drawn;
      for (int64_t b = 0; b < kRows; ++b) {
        const size_t i = static_cast<size_t>(b);
        int64_t best = 0;
        const double loss =
            SoftmaxCrossEntropyRow(expected.logits.data() + b * n_classes, n_classes,
                                   expected.labels[i], expected.scales[i], &best);
        CHECK(all.losses[i] == Approx(loss).epsilon(1e-5).margin(1e-6));
        CHECK(all.best[i] == best);
        for (int64_t c = 0; c < n_classes; ++c) {
          const size_t at = static_cast<size_t>(b * n_classes + c);
          CHECK(all.logits[at] == Approx(expected.logits[at])
                                      .epsilon(1e-5)
                                      .margin(1e-6 * static_cast<double>(expected.scales[i])));
        }
      }
    }
  }
}

TEST_CASE("softmax kernel: moments are those in double precision", "[train]") {
  constexpr int64_t kRows = 19;
  constexpr float kBeta = 0.7f;
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    for (int64_t n_classes : {2, 10, 100}) {
      INFO(cpu->base_isa << ", " << n_classes << " classes");
      const Rows rows = Draw(kRows, n_classes);
      std::vector<SoftmaxMoments> moments(static_cast<size_t>(kRows));
      TrainKernelsFor(*cpu).softmax_moments(rows.logits.data(), kRows, n_classes, kBeta,
                                            moments.data());
      for (int64_t b = 0; b < kRows; ++b) {
        const float* z = rows.logits.data() + b * n_classes;
        const SoftmaxMoments& got = moments[static_cast<size_t>(b)];
        double sum = 0.0, first = 0.0, second = 0.0;
        for (int64_t c = 0; c < n_classes; ++c) {
          const double d = static_cast<double>(z[c]) - static_cast<double>(got.max);
          CHECK(d <= 0.0);
          const double p = std::exp(static_cast<double>(kBeta) * d);
          sum += p;
          first += p * d;
          second += p * d * d;
        }
        CHECK(got.sum == Approx(sum).epsilon(1e-5));
        CHECK(got.first == Approx(first).epsilon(1e-5).margin(1e-6));
        CHECK(got.second == Approx(second).epsilon(1e-5).margin(1e-6));
      }
    }
  }
}

}  // namespace softmax_test
}  // namespace topwork
