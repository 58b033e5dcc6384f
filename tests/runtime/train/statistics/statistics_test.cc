// Statistics: sums that an example leaves without a trace, merged, and as numbers of a file.
#include "runtime/train/statistics/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/random.h"
#include "runtime/train/statistics/symmetric_inverse.h"

namespace topwork {
namespace statistics_test {

constexpr int64_t kDim = 6;

std::vector<float> Row(Random* random, double scale) {
  std::vector<float> row;
  for (int64_t d = 0; d < kDim; ++d) {
    row.push_back(static_cast<float>(scale * (random->Gaussian() + static_cast<double>(d))));
  }
  return row;
}

TEST_CASE("statistics: examples that come and go leave the sums as they were", "[train]") {
  Random random(1);
  Statistics statistics(kDim, false);
  for (int i = 0; i < 50; ++i) statistics.Change(Row(&random, 1.0).data(), i % 3, 1);
  const std::vector<double> before = statistics.Numbers();
  std::vector<std::vector<float>> others;
  for (int i = 0; i < 200; ++i) others.push_back(Row(&random, std::pow(10.0, i % 13 - 6)));
  for (size_t i = 0; i < others.size(); ++i) {
    statistics.Change(others[i].data(), static_cast<int32_t>(i % 3), 1);
  }
  for (size_t i = 0; i < others.size(); ++i) {
    statistics.Change(others[i].data(), static_cast<int32_t>(i % 3), -1);
  }
  const std::vector<double> after = statistics.Numbers();
  REQUIRE(after.size() == before.size());
  double worst = 0.0;
  for (size_t i = 0; i + 1 < before.size(); ++i) {
    worst = std::max(worst, std::fabs(after[i] - before[i]) / (1.0 + std::fabs(before[i])));
  }
  CHECK(worst < 1e-15);
  CHECK(statistics.size() == 50);
}

TEST_CASE("statistics: the scatter is that of the definition, merged or not", "[train]") {
  Random random(2);
  std::vector<std::vector<float>> rows;
  Statistics whole(kDim, true), first(kDim, true), second(kDim, true);
  const std::vector<int32_t> labels = {2, 0};  // class 0 there is class 2 here
  for (int i = 0; i < 40; ++i) {
    rows.push_back(Row(&random, 10.0));
    const int32_t label = i < 25 ? i % 3 : 2 * (1 - i % 2);
    whole.Change(rows.back().data(), label, 1);
    if (i < 25) first.Change(rows.back().data(), label, 1);
    if (i >= 25) second.Change(rows.back().data(), i % 2, 1);
  }
  first.Merge(second, labels);
  std::vector<double> mean(kDim);
  whole.Mean(mean.data());
  for (const Statistics* statistics : {&whole, &first}) {
    for (int64_t a = 0; a < kDim; ++a) {
      for (int64_t b = 0; b <= a; ++b) {
        double expected = 0.0;
        for (const std::vector<float>& row : rows) {
          expected +=
              (static_cast<double>(row[static_cast<size_t>(a)]) - mean[static_cast<size_t>(a)]) *
              (static_cast<double>(row[static_cast<size_t>(b)]) - mean[static_cast<size_t>(b)]);
        }
        const double found = statistics->scatter()[PackedRow(a) + static_cast<size_t>(b)];
        CHECK(found == Approx(expected).epsilon(1e-10).margin(1e-8));
      }
    }
    for (int64_t c = 0; c < 3; ++c) CHECK(statistics->count(c) == whole.count(c));
  }
}

TEST_CASE("statistics: scales are the powers of 2 that are nearest to the variances", "[train]") {
  Random random(3);
  Statistics statistics(kDim, false);
  std::vector<double> sum(kDim), squares(kDim);
  for (int i = 0; i < 500; ++i) {
    std::vector<float> row = Row(&random, 1.0);
    row[0] = 7.7f;  // constant
    row[1] *= 1e-20f;
    row[2] = 1e6f + row[2];
    row[3] *= 1e15f;
    for (size_t d = 0; d < row.size(); ++d) {
      const double x = static_cast<double>(row[d]) - (d == 2 ? 1e6 : 0.0);
      sum[d] += x;
      squares[d] += x * x;
    }
    statistics.Change(row.data(), 0, 1);
  }
  std::vector<double> scales(kDim);
  statistics.SquaredScales(scales.data());
  CHECK(scales[0] == 1.0);
  std::vector<double> deviations;
  for (size_t d = 1; d < scales.size(); ++d) {
    deviations.push_back(std::sqrt(squares[d] / 500.0 - (sum[d] / 500.0) * (sum[d] / 500.0)));
  }
  std::vector<double> sorted = deviations;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 1; d < scales.size(); ++d) {
    INFO("feature " << d);
    CHECK(std::remainder(std::log2(scales[d]), 1.0) == 0.0);
    const double shrunken = deviations[d - 1] + sorted[sorted.size() / 2];
    CHECK(shrunken * shrunken >=
          0.5 * scales[d]);  // both deviations are rounded, and their sum's square
    CHECK(shrunken * shrunken < 2.0 * scales[d]);
  }
}

TEST_CASE("statistics: numbers of a file give the same, and bad ones are refused", "[train]") {
  Random random(4);
  Statistics statistics(kDim, true);
  for (int i = 0; i < 9; ++i) statistics.Change(Row(&random, 1.0).data(), i % 2, 1);
  std::vector<double> numbers = statistics.Numbers();
  Statistics again;
  REQUIRE(again.Read(numbers, kDim, 2));
  CHECK(again.Numbers() == numbers);
  CHECK(again.size() == 9);
  CHECK_FALSE(again.Read(numbers, kDim, 3));
  CHECK_FALSE(again.Read(numbers, kDim + 1, 2));
  numbers[0] = -1.0;
  CHECK_FALSE(again.Read(numbers, kDim, 2));
  numbers[0] = 4.0;
  numbers.back() = NAN;
  CHECK_FALSE(again.Read(numbers, kDim, 2));
}

TEST_CASE("symmetric inverse: rows that come and go", "[train]") {
  Random random(5);
  std::vector<std::vector<double>> matrix;
  SymmetricInverse inverse;
  const auto check = [&] {
    double worst = 0.0;
    for (size_t i = 0; i < matrix.size(); ++i) {
      for (size_t j = 0; j < matrix.size(); ++j) {
        double sum = 0.0;
        for (size_t k = 0; k < matrix.size(); ++k) {
          sum += matrix[i][k] * inverse.at(static_cast<int64_t>(k), static_cast<int64_t>(j));
        }
        worst = std::max(worst, std::fabs(sum - (i == j ? 1.0 : 0.0)));
      }
    }
    CHECK(worst < 1e-12);
  };
  for (size_t n = 0; n < 20; ++n) {
    std::vector<double> row;
    for (size_t k = 0; k < n; ++k) row.push_back(random.Gaussian());
    REQUIRE(inverse.Append(row.data(), 30.0));
    for (size_t k = 0; k < n; ++k) matrix[k].push_back(row[k]);
    row.push_back(30.0);
    matrix.push_back(row);
    check();
  }
  for (const size_t i : {19, 0, 7, 7}) {
    REQUIRE(inverse.Remove(static_cast<int64_t>(i)));
    matrix.erase(matrix.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::vector<double>& row : matrix) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    check();
  }
  // A row that would make the matrix indefinite changes nothing.
  CHECK_FALSE(inverse.Append(matrix[2].data(), matrix[2][2] - 1.0));
  CHECK(inverse.size() == 16);
  check();
}

}  // namespace statistics_test
}  // namespace topwork
