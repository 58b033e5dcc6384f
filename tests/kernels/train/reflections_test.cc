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

TEST_CASE("reflections: eight vectors are reflected, and again are what they were", "[train]") {
  for (const TrainKernels* kernels : AllKernels()) {
    for (const int64_t n : kLengths) {
      if (n == 0) continue;
      CAPTURE(kernels->isa, n);
      const std::vector<double> v = Doubles(n, 1);
      const double beta = 2.0 / Dot(v, v);
      const std::vector<double> before = Doubles(8 * n, 2);
      std::vector<double> x = before;
      kernels->reflect(v.data(), beta, n, x.data());
      for (size_t l = 0; l < 8; ++l) {
        std::vector<double> lane;
        for (size_t j = 0; j < v.size(); ++j) lane.push_back(before[j * 8 + l]);
        const double factor = beta * Dot(v, lane);
        for (size_t j = 0; j < v.size(); ++j) {
          CHECK(x[j * 8 + l] == Approx(lane[j] - v[j] * factor).margin(1e-12));
        }
      }
      kernels->reflect(v.data(), beta, n, x.data());
      for (size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(before[i]).margin(1e-12));
    }
  }
}

}  // namespace reflections_test
}  // namespace topwork
