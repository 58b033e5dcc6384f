// Gaussian elimination for the references of linear problems.
#ifndef TOPWORK_TESTS_SUPPORT_ELIMINATE_H_
#define TOPWORK_TESTS_SUPPORT_ELIMINATE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace topwork {
namespace test {

template <class Real>
void AddTo(Real* to, Real factor, const Real* from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Solves `size` equations, rows of `width` numbers: the coefficients and the right sides, whose place the
// solutions take. The largest coefficient of a column is its pivot.
template <class Real>
void Eliminate(Real* a, size_t size, size_t width) {
  for (size_t i = 0; i < size; ++i) {
    size_t pivot = i;
    for (size_t r = i; r < size; ++r) {
      if (std::abs(a[r * width + i]) > std::abs(a[pivot * width + i])) pivot = r;
    }
    if (pivot != i) std::swap_ranges(a + i * width, a + i * width + width, a + pivot * width);
    for (size_t r = i + 1; r < size; ++r) {
      const Real factor = a[r * width + i] / a[i * width + i];
      AddTo(a + r * width + i, -factor, a + i * width + i, width - i);
    }
  }
  for (size_t r = size; r-- > 0;) {
    Real* const right = a + r * width + size;
    for (size_t k = r + 1; k < size; ++k) {
      AddTo(right, -a[r * width + k], a + k * width + size, width - size);
    }
    for (size_t c = 0; c < width - size; ++c) right[c] /= a[r * width + r];
  }
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_ELIMINATE_H_
