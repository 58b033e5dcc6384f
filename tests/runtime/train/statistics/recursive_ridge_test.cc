// Recursive ridge heads: after any adds, removals and new labels they are what solving anew gives.
#include "runtime/train/statistics/recursive_ridge.h"

#include <catch2/catch.hpp>

#include "runtime/train/random.h"
#include "tests/runtime/train/statistics/ridge_reference.h"

namespace topwork {
namespace recursive_ridge_test {

constexpr size_t kClasses = 4;

// Examples, their sums and their head, changed together.
struct Memory {
  explicit Memory(size_t dim, uint64_t seed)
      : random(seed),
        all(static_cast<int64_t>(dim), false),
        unkept(static_cast<int64_t>(dim), true) {
    // From 1e-3 to 1e3, with means of several standard deviations.
    for (size_t d = 0; d < dim; ++d) {
      const double place = static_cast<double>(d) / static_cast<double>(dim - 1);
      scales.push_back(std::pow(10.0, -3.0 + 6.0 * place));
      means.push_back(3.0 * scales.back() * random.Gaussian());
    }
    for (size_t i = 0; i < kClasses * dim; ++i) class_means.push_back(0.5 * random.Gaussian());
  }

  RidgeExamples examples() const {
    return {&all, unkept.size() > 0 ? &unkept : nullptr, &rows, &labels};
  }
  std::vector<float> Make(int32_t label) {
    std::vector<float> row;
    for (size_t d = 0; d < scales.size(); ++d) {
      const double mean = class_means[static_cast<size_t>(label) * scales.size() + d];
      row.push_back(static_cast<float>(means[d] + scales[d] * (mean + random.Gaussian())));
    }
    return row;
  }
  void Add(int32_t label) {
    rows.push_back(Make(label));
    labels.push_back(label);
    all.Change(rows.back().data(), label, 1);
    ridge.Change(examples(), rows.back().data(), label, static_cast<int64_t>(rows.size()) - 1, 1);
  }
  void Remove(size_t i) {
    const std::vector<float> row = rows[i];
    const int32_t label = labels[i];
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    all.Change(row.data(), label, -1);
    ridge.Change(examples(), row.data(), label, static_cast<int64_t>(i), -1);
  }
  void Relabel(size_t i, int32_t label) {
    const int32_t before = labels[i];
    labels[i] = label;
    if (before == label) return;
    all.Relabel(rows[i].data(), before, label);
    ridge.Relabel(examples(), rows[i].data(), before, label);
  }
  double Error(double lambda) {
    REQUIRE(ridge.Solve(examples(), lambda).ToString() == "OK");
    std::vector<double> weights, bias;
    ridge.Head(examples(), &weights, &bias);
    const test::RidgeReference anew = test::SolveRidgeAnew(rows, labels, kClasses, lambda);
    double difference = test::Difference(weights, anew);
    for (size_t c = 0; c < kClasses; ++c) {
      difference = std::max(difference, std::fabs(bias[c] - anew.bias[c]) / 10.0);
    }
    return difference;
  }

  Random random;
  std::vector<double> scales, means, class_means;
  std::vector<std::vector<float>> rows;
  std::vector<int32_t> labels;
  Statistics all, unkept;
  RecursiveRidge ridge;
};

TEST_CASE("recursive ridge: 1000 changes at scales 1e-3 to 1e3 equal solving anew", "[train]") {
  // More features than examples (the dual system), as many (it changes sides), and fewer.
  for (const size_t start : {10, 30, 120}) {
    const size_t dim = 40;
    const double lambda = 2.0;
    Memory memory(dim, start);
    for (size_t i = 0; i < start; ++i) memory.Add(static_cast<int32_t>(i % kClasses));
    CHECK(memory.Error(lambda) < 1e-9);
    double worst = 0.0;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t what = memory.random.Below(5);
      const int32_t label = static_cast<int32_t>(memory.random.Below(kClasses));
      const size_t at = static_cast<size_t>(memory.random.Below(memory.rows.size()));
      const bool grow =
          memory.rows.size() <= start / 2 || (what < 2 && memory.rows.size() < 2 * start);
      if (grow) {
        memory.Add(label);
      } else if (what < 4) {
        memory.Remove(at);
      } else {
        memory.Relabel(at, label);
      }
      if (i % 25 == 0) worst = std::max(worst, memory.Error(lambda));
    }
    INFO(start << " examples at first, solved " << memory.ridge.n_solved() << " times");
    CHECK(std::max(worst, memory.Error(lambda)) < 1e-9);
    CHECK(memory.ridge.drift() <= RecursiveRidge::kMostDrift);
    CHECK(memory.ridge.n_solved() < 500);  // most changes were updates
  }
}

TEST_CASE("recursive ridge: updates, not solving anew, follow single changes", "[train]") {
  for (const size_t n : {20, 400}) {
    Memory memory(60, n);
    for (size_t i = 0; i < n; ++i) memory.Add(static_cast<int32_t>(i % kClasses));
    CHECK(memory.Error(1.0) < 1e-9);
    memory.Add(1);
    memory.Remove(3);
    memory.Relabel(5, 2);
    CHECK(memory.ridge.is_solved());
    CHECK(memory.Error(1.0) < 1e-9);
    CHECK(memory.ridge.n_solved() == 1);
    CHECK(memory.Error(3.0) < 1e-9);  // another penalty
    CHECK(memory.ridge.n_solved() == 2);
  }
}

// Two features are constant in all examples, then in all but one.
void CheckConstantFeatures(size_t n, size_t first, size_t second) {
  INFO(n << " examples, features " << first << " and " << second);
  Memory memory(24, n);
  for (size_t i = 0; i < n; ++i) memory.Add(static_cast<int32_t>(i % kClasses));
  for (size_t i = 0; i < n; ++i) {
    const std::vector<float> row = memory.rows[0];
    const int32_t label = memory.labels[0];
    memory.Remove(0);
    memory.rows.push_back(row);
    memory.rows.back()[first] = 0.0f;
    memory.rows.back()[second] = 0.1f;
    memory.labels.push_back(label);
    memory.all.Change(memory.rows.back().data(), label, 1);
    memory.ridge.Change(memory.examples(), memory.rows.back().data(), label,
                        static_cast<int64_t>(n) - 1, 1);
    if (i % 4 == 0) CHECK(memory.Error(1.0) < 1e-9);
  }
  CHECK(memory.Error(1.0) < 1e-9);
  memory.Add(2);
  CHECK(memory.Error(1.0) < 1e-9);
  memory.Remove(n);
  CHECK(memory.Error(1.0) < 1e-9);
}

TEST_CASE("recursive ridge: features that begin or cease to vary", "[train]") {
  for (const size_t n : {16, 90}) {
    CheckConstantFeatures(n, 3, 7);
    CheckConstantFeatures(n, 0, 1);  // what begins to vary does so by a thousandth
  }
}

TEST_CASE("recursive ridge: examples without rows count by their scatter", "[train]") {
  Memory memory(20, 3);
  for (size_t i = 0; i < 60; ++i) memory.Add(static_cast<int32_t>(i % kClasses));
  const std::vector<std::vector<float>> rows = memory.rows;
  const std::vector<int32_t> labels = memory.labels;
  const test::RidgeReference anew = test::SolveRidgeAnew(rows, labels, kClasses, 1.0);
  // Half of the rows go; their sums stay.
  for (size_t i = 0; i < 30; ++i) {
    memory.unkept.Change(memory.rows[0].data(), memory.labels[0], 1);
    memory.rows.erase(memory.rows.begin());
    memory.labels.erase(memory.labels.begin());
  }
  std::vector<double> weights, bias;
  REQUIRE(memory.ridge.Solve(memory.examples(), 1.0).ok());
  memory.ridge.Head(memory.examples(), &weights, &bias);
  CHECK(test::Difference(weights, anew) < 1e-9);
  // One of them comes and goes.
  const std::vector<float> row = memory.Make(1);
  for (const int sign : {1, -1}) {
    memory.all.Change(row.data(), 1, sign);
    memory.unkept.Change(row.data(), 1, sign);
    memory.ridge.Change(memory.examples(), row.data(), 1, -1, sign);
    CHECK(memory.ridge.is_solved());
  }
  memory.ridge.Head(memory.examples(), &weights, &bias);
  CHECK(test::Difference(weights, anew) < 1e-9);
  CHECK(memory.ridge.n_solved() == 1);
}

TEST_CASE("recursive ridge: a system that is singular is refused", "[train]") {
  Memory memory(5, 1);
  for (int i = 0; i < 3; ++i) memory.Add(0);
  const Status status = memory.ridge.Solve(memory.examples(), 1e-300);
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("larger one") != std::string::npos);
  CHECK_FALSE(memory.ridge.is_solved());
}

}  // namespace recursive_ridge_test
}  // namespace topwork
