// Reproducible test data, the same on every platform.
#ifndef TOPWORK_TESTS_SUPPORT_RANDOM_FLOATS_H_
#define TOPWORK_TESTS_SUPPORT_RANDOM_FLOATS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topwork {
namespace test {

// n values in [-1, 1), multiples of 2^-15; another sequence for every seed.
inline std::vector<float> RandomFloats(size_t n, uint32_t seed) {
  std::vector<float> values(n);
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state >> 16) - 32768) / 32768.0f;
  }
  return values;
}

// The same, multiples of 1/8: sums of products of these are exact in float32, and up to 32 in
// float16.
inline std::vector<float> RandomEighths(size_t n, uint32_t seed) {
  std::vector<float> values = RandomFloats(n, seed);
  for (float& value : values) value = std::floor(value * 8.0f) / 8.0f;
  return values;
}

// The largest |a[i] - b[i]| in units of the largest |b[i]| (at least 1); infinite for other sizes.
inline double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 1.0, difference = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    difference = d <= difference ? difference : d;  // a NaN stays
  }
  return difference / largest;
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_RANDOM_FLOATS_H_
