// Vectors of doubles of every instruction set against sums in long double.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace reflections_test {

constexpr int64_t kLengths[] = {0, 1, 2, 7, 15, 16, 17, 33, 160, 261};

std::vector<double> Doubles(int64_t n, uint32_t seed) {
  const std::vector<float> floats = test::RandomFloats(static_cast<size_t>(n), seed);
  return {floats.begin(), floats.end()};
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  long double sum = 0.0L;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
  }
  return static_cast<double>(sum);
}

std::vector<const TrainKernels*> AllKernels() {
  std::vector<const TrainKernels*> all;
  for (const CpuKernels* cpu : test::TestedCpuKernels()) all.push_back(&TrainKernelsFor(*cpu));
  return all;
}

TEST_CASE("reflections: sums of products", "[train]") {
  for (const TrainKernels* kernels : AllKernels()) {
    for (const int64_t n : kLengths) {
      CAPTURE(kernels->isa, n);
      const std::vector<double> a = Doubles(n, 1), b = Doubles(n, 2);
      CHECK(kernels->dot_doubles(a.data(), b.data(), n) == Approx(Dot(a, b)).margin(1e-12));
    }
  }
}

TEST_CASE("reflections: a row takes two vectors and is multiplied", "[train]") {
  for (const TrainKernels* kernels : AllKernels()) {
    for (const int64_t n : kLengths) {
      CAPTURE(kernels->isa, n);
      const std::vector<double> w = Doubles(n, 1), v = Doubles(n, 2), next = Doubles(n, 3);
      std::vector<double> row = Doubles(n, 4);
      std::vector<double> expected = row;
      for (size_t i = 0; i < expected.size(); ++i) expected[i] -= 0.75 * w[i] + -1.5 * v[i];
      const double sum =
          kernels->update_dot(0.75, w.data(), -1.5, v.data(), next.data(), n, row.data());
      for (size_t i = 0; i < row.size(); ++i) CHECK(row[i] == Approx(expected[i]).margin(1e-14));
      CHECK(sum == Approx(Dot(expected, next)).margin(1e-12));
    }
  }
}

TEST_CASE("reflections: rows of a symmetric matrix are multiplied both ways", "[train]") {
  for (const TrainKernels* kernels : AllKernels()) {
    for (const int64_t n : kLengths) {
      CAPTURE(kernels->isa, n);
      const int64_t stride = n + 3;
      const std::vector<double> rows = Doubles(kSymmetricRows * stride, 1), v = Doubles(n, 2);
      const std::vector<double> factors = Doubles(kSymmetricRows, 3), before = Doubles(n, 4);
      std::vector<double> y = before;
      double sums[kSymmetricRows];
      kernels->multiply_rows(rows.data(), stride, n, v.data(), factors.data(), y.data(), sums);
      std::vector<double> expected = before;
      for (int64_t r = 0; r < kSymmetricRows; ++r) {
        const auto first = rows.begin() + r * stride;
        const std::vector<double> row(first, first + n);
        CHECK(sums[r] == Approx(Dot(row, v)).margin(1e-12));
        for (size_t j = 0; j < row.size(); ++j) {
          expected[j] += factors[static_cast<size_t>(r)] * row[j];
        }
      }
      for (size_t j = 0; j < y.size(); ++j) CHECK(y[j] == Approx(expected[j]).margin(1e-12));
    }
  }
}

}  // namespace reflections_test
}  // namespace topwork
