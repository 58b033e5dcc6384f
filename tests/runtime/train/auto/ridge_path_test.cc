// Leave-one-out and leave-group-out predictions against fits without the examples, by Gaussian
// elimination in double precision.
#include "runtime/train/auto/ridge_path.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "runtime/train/fit/solvers.h"
#include "tests/support/eliminate.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace ridge_path_test {

constexpr Scaling kScalings[] = {Scaling::kNone, Scaling::kStandard, Scaling::kShrunken};

struct Problem {
  int64_t n, dim, n_outputs;
  std::vector<float> features, targets, weights;
  std::vector<int32_t> groups;
  std::vector<const float*> rows;

  Problem(int64_t examples, int64_t features_, int64_t outputs, double scale, bool weighted)
      : n(examples), dim(features_), n_outputs(outputs) {
    features = test::RandomFloats(static_cast<size_t>(n * dim), 3);
    targets = test::RandomFloats(static_cast<size_t>(n * n_outputs), 5);
    // Columns of different size, and one far away from zero.
    for (int64_t i = 0; i < n * dim; ++i) {
      const int64_t d = i % dim;
      features[static_cast<size_t>(i)] += d == 1 ? 30.0f : 0.0f;
      features[static_cast<size_t>(i)] *= static_cast<float>(scale * std::pow(3.0, d % 5));
    }
    for (int64_t b = 0; b < n; ++b) {
      rows.push_back(features.data() + b * dim);
      groups.push_back(b % 7 == 0 ? -1 : static_cast<int32_t>(b % 4) * 100);
    }
    if (!weighted) return;
    weights = test::RandomFloats(static_cast<size_t>(n), 9);
    for (float& weight : weights) weight = 1.5f + weight;
  }
  Design design() const { return {rows.data(), n, dim, targets, n_outputs, weights, groups}; }
  double weight(int64_t b) const {
    return weights.empty() ? 1.0 : static_cast<double>(weights[static_cast<size_t>(b)]);
  }
  double x(int64_t b, int64_t d) const {
    return static_cast<double>(rows[static_cast<size_t>(b)][d]);
  }
  double t(int64_t b, int64_t c) const {
    return static_cast<double>(targets[static_cast<size_t>(b * n_outputs + c)]);
  }

  std::vector<double> Deviations() const {
    std::vector<double> out;
    for (int64_t d = 0; d < dim; ++d) {
      double total = 0, mean = 0, square = 0;
      for (int64_t b = 0; b < n; ++b) total += weight(b), mean += weight(b) * x(b, d);
      mean /= total;
      for (int64_t b = 0; b < n; ++b) square += weight(b) * (x(b, d) - mean) * (x(b, d) - mean);
      out.push_back(std::sqrt(square / total));
    }
    return out;
  }
  std::vector<double> Divisors(Scaling scaling) const {
    std::vector<double> out = Deviations();
    if (scaling == Scaling::kNone) return std::vector<double>(out.size(), 1);
    std::vector<double> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    const double least = scaling == Scaling::kShrunken ? sorted[sorted.size() / 2] : 0;
    for (double& divisor : out) divisor += least;
    return out;
  }
  // Adds `sign` times the sums of an example, [dim + 1, dim + 1 + n_outputs].
  void AddSums(int64_t b, double sign, const std::vector<double>& divisors, double* sums) const {
    const size_t size = static_cast<size_t>(dim) + 1;
    const size_t width = size + static_cast<size_t>(n_outputs);
    std::vector<double> row(width, 1);
    for (size_t d = 0; d + 1 < size; ++d) row[d] = x(b, static_cast<int64_t>(d)) / divisors[d];
    for (size_t c = size; c < width; ++c) row[c] = t(b, static_cast<int64_t>(c - size));
    for (size_t i = 0; i < size; ++i) {
      test::AddTo(sums + i * width, sign * weight(b) * row[i], row.data(), width);
    }
  }
  std::vector<double> SumsOfAll(const std::vector<double>& divisors) const {
    std::vector<double> sums(static_cast<size_t>((dim + 1) * (dim + 1 + n_outputs)), 0);
    for (int64_t b = 0; b < n; ++b) AddSums(b, 1, divisors, sums.data());
    return sums;
  }
  // W [n_outputs, dim], then c, of a fit to the examples that `with` keeps: unknowns W and c at once.
  // `all`: the sums of all examples.
  std::vector<double> Solve(const std::vector<bool>& with, std::vector<double> all, double lambda,
                            const std::vector<double>& divisors) const {
    const size_t size = static_cast<size_t>(dim) + 1;
    const size_t width = size + static_cast<size_t>(n_outputs);
    double* const a = all.data();
    for (int64_t b = 0; b < n; ++b) {
      if (!with[static_cast<size_t>(b)]) AddSums(b, -1, divisors, a);
    }
    for (size_t d = 0; d + 1 < size; ++d) a[d * width + d] += lambda;
    test::Eliminate(a, size, width);
    std::vector<double> out;
    for (size_t c = size; c < width; ++c) {
      for (size_t d = 0; d + 1 < size; ++d) out.push_back(a[d * width + c] / divisors[d]);
    }
    for (size_t c = size; c < width; ++c) out.push_back(a[(size - 1) * width + c]);
    return out;
  }
  double Predict(const std::vector<double>& solution, int64_t b, int64_t c) const {
    double sum = solution[static_cast<size_t>(n_outputs * dim + c)];
    for (int64_t d = 0; d < dim; ++d) sum += solution[static_cast<size_t>(c * dim + d)] * x(b, d);
    return sum;
  }
  // The largest difference from refitting without each example's group (without it alone).
  double Difference(const std::vector<double>& out, double lambda, Scaling scaling, bool grouped) {
    const std::vector<double> divisors = Divisors(scaling);
    const std::vector<double> all = SumsOfAll(divisors);
    std::map<std::vector<bool>, std::vector<double>> solutions;  // of the examples that stay
    double largest = 0;
    for (int64_t b = 0; b < n; ++b) {
      const int32_t group = groups[static_cast<size_t>(b)];
      std::vector<bool> with(static_cast<size_t>(n), true);
      for (int64_t i = 0; i < n; ++i) {
        const bool same = grouped && group >= 0 && groups[static_cast<size_t>(i)] == group;
        if (i == b || same) with[static_cast<size_t>(i)] = false;
      }
      std::vector<double>& solution = solutions[with];
      if (solution.empty()) solution = Solve(with, all, lambda, divisors);
      for (int64_t c = 0; c < n_outputs; ++c) {
        const double got = out[static_cast<size_t>(b * n_outputs + c)];
        largest = std::max(largest, std::abs(got - Predict(solution, b, c)));
      }
    }
    return largest;
  }
};

RidgePath MakePath(const Problem& problem, Scaling scaling, ThreadPool* pool) {
  Result<RidgePath> path = RidgePath::Make(problem.design(), scaling, pool, nullptr);
  REQUIRE(path.status().ToString() == "OK");
  return std::move(path.value());
}

void CheckLeftOut(Problem problem, Scaling scaling) {
  ThreadPool pool(2);
  const RidgePath path = MakePath(problem, scaling, &pool);
  const std::vector<double> lambdas = path.Lambdas(33);
  std::vector<double> out(static_cast<size_t>(problem.n * problem.n_outputs));
  for (size_t i = 0; i < lambdas.size(); i += 8) {
    INFO(lambdas[i]);
    REQUIRE(path.LeaveOneOut(lambdas[i], out).ToString() == "OK");
    CHECK(problem.Difference(out, lambdas[i], scaling, false) < 1e-6);
    REQUIRE(path.LeaveGroupOut(lambdas[i], out).ToString() == "OK");
    CHECK(problem.Difference(out, lambdas[i], scaling, true) < 1e-6);
  }
}

TEST_CASE("ridge path: left-out predictions are those of fits without the examples", "[train]") {
  for (const Scaling scaling : kScalings) {
    for (const bool weighted : {false, true}) {
      CAPTURE(static_cast<int>(scaling), weighted);
      CheckLeftOut(Problem(37, 9, 3, 1.0, weighted), scaling);   // more examples
      CheckLeftOut(Problem(25, 60, 2, 1.0, weighted), scaling);  // more features
      CheckLeftOut(Problem(21, 20, 11, 1.0, weighted), scaling);
      CheckLeftOut(Problem(20, 20, 1, 1.0, weighted), scaling);
    }
  }
  // Several panels, and tasks within the first of them.
  CheckLeftOut(Problem(83, 90, 2, 1.0, true), Scaling::kShrunken);
  CheckLeftOut(Problem(90, 81, 17, 1.0, true), Scaling::kStandard);
}

TEST_CASE("ridge path: the features' scale changes nothing", "[train]") {
  for (const double scale : {1e-17, 1e-6, 1e6, 1e17}) {
    CAPTURE(scale);
    for (const Scaling scaling : kScalings) {
      CheckLeftOut(Problem(19, 7, 2, scale, false), scaling);
      CheckLeftOut(Problem(15, 33, 2, scale, true), scaling);
    }
  }
}

TEST_CASE("ridge path: the head is that of the normal equations", "[train]") {
  for (const int64_t dim : {9, 60}) {
    for (const Scaling scaling : kScalings) {
      CAPTURE(dim, static_cast<int>(scaling));
      Problem problem(37, dim, 3, 1.0, true);
      ThreadPool pool(2);
      const RidgePath path = MakePath(problem, scaling, &pool);
      const double lambda = path.Lambdas(33)[12];
      std::vector<float> weights(static_cast<size_t>(3 * dim));
      std::vector<float> bias(3);
      REQUIRE(path.Solve(lambda, weights, bias).ToString() == "OK");
      auto to_solve = RidgePath::MakeToSolve(problem.design(), scaling, &pool, nullptr);
      REQUIRE(to_solve.ok());
      std::vector<float> same_weights(weights.size());
      std::vector<float> same_bias(bias.size());
      REQUIRE(to_solve->Solve(lambda, same_weights, same_bias).ToString() == "OK");
      CHECK(same_weights == weights);
      CHECK(same_bias == bias);
      const std::vector<double> divisors = problem.Divisors(scaling);
      const std::vector<double> expected =
          problem.Solve(std::vector<bool>(37, true), problem.SumsOfAll(divisors), lambda, divisors);
      std::vector<double> got(weights.begin(), weights.end());
      got.insert(got.end(), bias.begin(), bias.end());
      for (int64_t b = 0; b < problem.n; ++b) {
        for (int64_t c = 0; c < 3; ++c) {
          const double want = problem.Predict(expected, b, c);
          CHECK(problem.Predict(got, b, c) == Approx(want).margin(1e-4));
        }
      }
    }
  }
}

TEST_CASE("ridge path: a constant feature gets no weight, a duplicate half of it", "[train]") {
  Problem problem(30, 6, 2, 1.0, false);
  for (int64_t b = 0; b < 30; ++b) {
    problem.features[static_cast<size_t>(b * 6 + 2)] = 0.1f;
    problem.features[static_cast<size_t>(b * 6 + 4)] = problem.features[static_cast<size_t>(b * 6)];
  }
  ThreadPool pool(1);
  const RidgePath path = MakePath(problem, Scaling::kStandard, &pool);
  std::vector<float> weights(12);
  std::vector<float> bias(2);
  for (double lambda : path.Lambdas(33)) {
    REQUIRE(path.Solve(lambda, weights, bias).ToString() == "OK");
    CHECK(weights[2] == 0.0f);
    CHECK(weights[0] == Approx(weights[4]).epsilon(1e-5));
  }
}

TEST_CASE("ridge path: the number of threads changes no bit", "[train]") {
  for (const int64_t n : {150, 420}) {
    CAPTURE(n);
    Problem problem(n, 300, 12, 1.0, true);
    std::vector<std::vector<double>> results;
    for (const int n_threads : {1, 3}) {
      ThreadPool pool(n_threads);
      const RidgePath path = MakePath(problem, Scaling::kStandard, &pool);
      std::vector<double> out(static_cast<size_t>(n * 12));
      results.emplace_back();
      REQUIRE(path.LeaveOneOut(path.Lambdas(33)[10], out).ToString() == "OK");
      results.back().insert(results.back().end(), out.begin(), out.end());
      REQUIRE(path.LeaveGroupOut(path.Lambdas(33)[20], out).ToString() == "OK");
      results.back().insert(results.back().end(), out.begin(), out.end());
      std::vector<float> weights(12 * 300);
      std::vector<float> bias(12);
      REQUIRE(path.Solve(path.Lambdas(33)[5], weights, bias).ToString() == "OK");
      results.back().insert(results.back().end(), weights.begin(), weights.end());
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("ridge path: wrong problems are refused", "[train]") {
  ThreadPool pool(1);
  const auto make = [&](const Design& design) {
    return RidgePath::Make(design, Scaling::kStandard, &pool, nullptr).status().code();
  };
  Problem problem(10, 4, 2, 1.0, true);
  Design design = problem.design();
  design.n_outputs = 3;
  CHECK(make(design) == StatusCode::kInvalidArgument);
  design = problem.design();
  design.n = 1;
  CHECK(make(design) == StatusCode::kInvalidArgument);
  problem.weights[3] = 0.0f;
  CHECK(make(problem.design()) == StatusCode::kInvalidArgument);
  problem.weights[3] = 1.0f;
  problem.features[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK(make(problem.design()) == StatusCode::kNumeric);
  problem.features[5] = 0.0f;
  const RidgePath path = MakePath(problem, Scaling::kStandard, &pool);
  std::vector<double> out(20);
  CHECK(path.LeaveOneOut(-1.0, out).code() == StatusCode::kInvalidArgument);
  const std::vector<int32_t> one_group(10, 1);
  CHECK(path.LeaveGroupOut(1.0, one_group, out).code() == StatusCode::kInvalidArgument);
  WorkWatch watch;
  const Cancellation::Call call(&watch.cancellation());
  watch.cancellation().Request();
  CHECK(RidgePath::Make(problem.design(), Scaling::kStandard, &pool, &watch).status().code() ==
        StatusCode::kCancelled);
}

}  // namespace ridge_path_test
}  // namespace topwork
