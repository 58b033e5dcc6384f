// Jackknife+ intervals: equal to refitting without each example, and covering what they promise.
#include "runtime/train/judge/jackknife.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "runtime/train/fit/solvers.h"
#include "tests/runtime/train/trainer_data.h"

namespace topwork {
namespace jackknife_test {

// Rows around 3, targets that are linear in them but for noise that is not Gaussian.
struct Problem {
  Problem(int64_t n, int64_t dim, int64_t n_outputs, uint64_t seed)
      : n(n), dim(dim), n_outputs(n_outputs) {
    Random random(seed);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int64_t d = 0; d < dim; ++d) {
        x.push_back(static_cast<float>(3.0 + random.Gaussian()));
        sum += static_cast<double>(x.back()) / static_cast<double>(d + 1);
      }
      for (int64_t c = 0; c < n_outputs; ++c) {
        const double noise = random.Gaussian();
        t.push_back(static_cast<float>(sum + static_cast<double>(c) + noise * noise));
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(x.data() + i * dim);
      targets.push_back(t.data() + i * n_outputs);
    }
  }
  int64_t n, dim, n_outputs;
  std::vector<float> x, t;
  std::vector<const float*> rows, targets;
};

JackknifePlus Make(const Problem& p, int64_t n, double l2, ThreadPool* pool) {
  auto made =
      JackknifePlus::Make(p.rows.data(), p.targets.data(), {}, {}, n, p.dim, p.n_outputs, l2, pool);
  REQUIRE(made.status().ToString() == "OK");
  return std::move(made.value());
}

TEST_CASE("jackknife+: the intervals of refitting without each example", "[train]") {
  ThreadPool pool(1);
  for (const int64_t dim : {5, 40}) {  // more and fewer examples than features
    const int64_t n = 24;
    const Problem p(n + 3, dim, 2, 7);
    const double l2 = 2.0, coverage = 0.8;
    const JackknifePlus jackknife = Make(p, n, l2, &pool);
    for (int64_t probe = n; probe < n + 3; ++probe) {
      std::vector<std::vector<double>> low(2), high(2);
      for (int64_t out = 0; out < n; ++out) {
        std::vector<const float*> rows, targets;
        for (int64_t i = 0; i < n; ++i) {
          if (i == out) continue;
          rows.push_back(p.rows[static_cast<size_t>(i)]);
          targets.push_back(p.targets[static_cast<size_t>(i)]);
        }
        std::vector<float> w(static_cast<size_t>(2 * dim)), b(2);
        REQUIRE(SolveRidge(rows.data(), targets.data(), {}, n - 1, dim, 2, l2, &pool, w.data(),
                           b.data())
                    .ok());
        const auto predict = [&](int64_t i, size_t c) {
          double sum = static_cast<double>(b[c]);
          for (int64_t d = 0; d < dim; ++d) {
            sum += static_cast<double>(w[c * static_cast<size_t>(dim) + static_cast<size_t>(d)]) *
                   static_cast<double>(p.rows[static_cast<size_t>(i)][d]);
          }
          return sum;
        };
        for (size_t c = 0; c < 2; ++c) {
          const double target = static_cast<double>(p.targets[static_cast<size_t>(out)][c]);
          const double residual = std::fabs(target - predict(out, c));
          low[c].push_back(predict(probe, c) - residual);
          high[c].push_back(predict(probe, c) + residual);
        }
      }
      float lower[2], upper[2];
      jackknife.Interval(p.rows[static_cast<size_t>(probe)], coverage, lower, upper);
      for (size_t c = 0; c < 2; ++c) {
        std::sort(low[c].begin(), low[c].end());
        std::sort(high[c].begin(), high[c].end());
        // The 20th of 24 values; ⌈0.8 · 25⌉ = 20.
        CHECK(static_cast<double>(lower[c]) == Approx(low[c][4]).margin(2e-3));
        CHECK(static_cast<double>(upper[c]) == Approx(high[c][19]).margin(2e-3));
      }
    }
  }
}

TEST_CASE("jackknife+: factors of features are those of scaled features", "[train]") {
  ThreadPool pool(1);
  for (const int64_t dim : {5, 40}) {
    Problem p(30, dim, 2, 3);
    std::vector<double> factors;
    for (int64_t d = 0; d < dim; ++d)
      factors.push_back(d == 2 ? 0.0 : 1.0 / (1.0 + 0.25 * static_cast<double>(d)));
    auto made =
        JackknifePlus::Make(p.rows.data(), p.targets.data(), {}, factors, 24, dim, 2, 2.0, &pool);
    REQUIRE(made.status().ToString() == "OK");
    float lower[2], upper[2], low[2], high[2];
    made->Interval(p.rows[27], 0.8, lower, upper);
    for (size_t k = 0; k < p.x.size(); ++k) {
      p.x[k] *= static_cast<float>(factors[k % static_cast<size_t>(dim)]);
    }
    Make(p, 24, 2.0, &pool).Interval(p.rows[27], 0.8, low, high);
    for (size_t c = 0; c < 2; ++c) {
      CHECK(lower[c] == Approx(low[c]).margin(1e-3));
      CHECK(upper[c] == Approx(high[c]).margin(1e-3));
    }
  }
}

TEST_CASE("jackknife+: as many new targets as promised lie inside", "[train]") {
  ThreadPool pool(1);
  for (const int64_t dim : {4, 60}) {
    int64_t n_inside = 0, n_all = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const Problem p(160, dim, 1, seed);
      const JackknifePlus jackknife = Make(p, 60, 10.0, &pool);
      for (size_t i = 60; i < 160; ++i) {
        float lower, upper;
        jackknife.Interval(p.rows[i], 0.9, &lower, &upper);
        n_inside += p.t[i] >= lower && p.t[i] <= upper;
        ++n_all;
      }
    }
    const double covered = static_cast<double>(n_inside) / static_cast<double>(n_all);
    CAPTURE(dim, covered);
    CHECK(covered > 0.87);
    CHECK(covered < 0.94);
  }
  // Nine examples cannot promise 95 %.
  const Problem few(9, 3, 1, 1);
  float lower, upper;
  Make(few, 9, 1.0, &pool).Interval(few.rows[0], 0.95, &lower, &upper);
  CHECK(lower == -HUGE_VALF);
  CHECK(upper == HUGE_VALF);
}

TEST_CASE("trainer: intervals of a ridge regression, however it was chosen, and of nothing else",
          "[train]") {
  test::TrainerData data = test::Images(120, 3);
  std::vector<float> values;
  Random random(2);
  for (int32_t label : data.y) {
    values.push_back(static_cast<float>(label) + 0.2f * static_cast<float>(random.Gaussian()));
  }
  const Examples examples =
      Examples::FromArray(data.x.data(), test::kImageFloats * sizeof(float), values.data(), 1, 120);
  TrainerOptions options;
  options.loss.loss = Loss::kMeanSquaredError;
  options.n_classes = 1;
  options.validation_fraction = 0.25f;
  for (const Optimizer optimizer : {Optimizer::kRidge, Optimizer::kAuto}) {
    options.optimizer = optimizer;
    const auto trainer = test::NewTrainer(options);
    REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    const auto check = trainer->judge().CheckIntervals(0.8);
    REQUIRE(check.status().ToString() == "OK");
    CHECK(check->n_examples == 30);
    CHECK(check->coverage > 0.6);
    CHECK(check->mean_width > 0.2);
    CHECK(check->mean_width < 3.0);
    std::vector<float> lower(120), upper(120), scores(120);
    REQUIRE(trainer->judge().PredictIntervals(examples, 0.8, lower.data(), upper.data()).ok());
    REQUIRE(trainer->judge().Predict(examples, scores.data()).ok());
    for (size_t i = 0; i < 120; ++i) {
      CHECK(lower[i] < scores[i]);
      CHECK(upper[i] > scores[i]);
    }
    CHECK(trainer->judge().CheckIntervals(1.0).status().code() == StatusCode::kInvalidArgument);
  }
  options.optimizer = Optimizer::kAdam;
  const auto other = test::NewTrainer(options);
  REQUIRE(other->AddExamples(examples).ok());
  CHECK(other->judge().CheckIntervals(0.8).status().code() == StatusCode::kFailedPrecondition);
}

}  // namespace jackknife_test
}  // namespace topwork
