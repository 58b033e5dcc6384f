// SOFTMAX of short rows by every instruction set: every length, every number of rows in a vector.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace softmax_rows_test {

// The largest difference from what doubles make of row r.
double RowDifference(const std::vector<float>& x, const std::vector<float>& y, size_t r, size_t n,
                     double beta) {
  const float* row = x.data() + r * n;
  const double max = static_cast<double>(*std::max_element(row, row + n));
  double sum = 0.0, worst = 0.0;
  for (size_t i = 0; i < n; ++i) sum += std::exp((static_cast<double>(row[i]) - max) * beta);
  for (size_t i = 0; i < n; ++i) {
    const double expected = std::exp((static_cast<double>(row[i]) - max) * beta) / sum;
    const double difference = std::fabs(static_cast<double>(y[r * n + i]) - expected);
    worst = difference <= worst ? worst : difference;  // a NaN stays
  }
  return worst;
}

TEST_CASE("softmax: short rows, every instruction set", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    INFO(tables[t]->isa);
    const ElementwiseKernels& kernels = *tables[t]->elementwise;
    for (int64_t n = 1; n <= kernels.short_row; ++n) {
      for (const int64_t rows : {1, 2, 5, 16, 19}) {
        INFO(rows << " rows of " << n);
        const size_t size = static_cast<size_t>(rows * n), width = static_cast<size_t>(n);
        std::vector<float> x = RandomFloats(size, static_cast<unsigned>(n));
        for (float& value : x) value -= 3.0f;  // zeros behind a row would be the largest
        std::vector<float> y(size + 1, 77.0f);
        kernels.softmax(x.data(), y.data(), rows, n, 2.0f);
        double worst = 0.0;
        for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
          const double difference = RowDifference(x, y, r, width, 2.0);
          worst = difference <= worst ? worst : difference;
        }
        CHECK(worst < 1e-6);
        CHECK(y.back() == 77.0f);
        kernels.softmax(x.data(), x.data(), rows, n, 2.0f);
        CHECK(std::equal(x.begin(), x.end(), y.begin()));
      }
    }
  }
}

TEST_CASE("softmax: a NaN in a short row stays in it", "[ops][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int t = 0; t < n_tables; ++t) {
    INFO(tables[t]->isa);
    const ElementwiseKernels& kernels = *tables[t]->elementwise;
    for (int64_t n = 1; n <= kernels.short_row; ++n) {
      std::vector<float> x(static_cast<size_t>(3 * n), 1.0f);
      x[static_cast<size_t>(2 * n - 1)] = std::numeric_limits<float>::quiet_NaN();
      kernels.softmax(x.data(), x.data(), 3, n, 1.0f);
      int n_wrong = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const bool is_middle = static_cast<int64_t>(i) / n == 1;
        n_wrong += std::isnan(x[i]) != is_middle;
      }
      CHECK(n_wrong == 0);
    }
  }
}

}  // namespace softmax_rows_test
}  // namespace test
}  // namespace topwork
