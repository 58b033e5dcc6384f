// Vectors of doubles, compiled once per instruction set: the inner loops of Householder reflections
// and of triangular factors.
#include <cstring>

#include "kernels/train/doubles.h"
#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Every sum has this many chains, whatever the instruction set.
constexpr int kChains = 16;
constexpr int kVectors = kChains / kDoubles;

double Sum(const Doubles (&chains)[kVectors]) {
  double sums[kChains];
  std::memcpy(sums, chains, sizeof(sums));
  for (int n = kChains / 2; n > 0; n /= 2) {
    for (int c = 0; c < n; ++c) sums[c] += sums[c + n];
  }
  return sums[0];
}

}  // namespace

double DotDoubles(const double* a, const double* b, int64_t n) {
  Doubles chains[kVectors] = {};
  int64_t j = 0;
  for (; j + kChains <= n; j += kChains) {
    for (int k = 0; k < kVectors; ++k) {
      chains[k] += Load(a + j + k * kDoubles) * Load(b + j + k * kDoubles);
    }
  }
  double sum = Sum(chains);
  for (; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

double UpdateDot(double p, const double* w, double q, const double* v, const double* next,
                 int64_t n, double* row) {
  Doubles chains[kVectors] = {};
  int64_t j = 0;
  for (; j + kChains <= n; j += kChains) {
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = j + k * kDoubles;
      const Doubles updated = Load(row + at) - (p * Load(w + at) + q * Load(v + at));
      Store(row + at, updated);
      chains[k] += updated * Load(next + at);
    }
  }
  double sum = Sum(chains);
  for (; j < n; ++j) {
    row[j] -= p * w[j] + q * v[j];
    sum += row[j] * next[j];
  }
  return sum;
}

void MultiplyRows(const double* rows, int64_t stride, int64_t n, const double* v,
                  const double* factors, double* y, double* sums) {
  Doubles chains[kSymmetricRows] = {};
  int64_t j = 0;
  for (; j + kDoubles <= n; j += kDoubles) {
    const Doubles x = Load(v + j);
    Doubles to = Load(y + j);
    for (int r = 0; r < kSymmetricRows; ++r) {
      const Doubles row = Load(rows + r * stride + j);
      chains[r] += row * x;
      to += row * factors[r];
    }
    Store(y + j, to);
  }
  for (int r = 0; r < kSymmetricRows; ++r) {
    double lanes[kDoubles];
    Store(lanes, chains[r]);
    for (int half = kDoubles / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    sums[r] = lanes[0];
    const double* row = rows + r * stride;
    for (int64_t k = j; k < n; ++k) {
      sums[r] += row[k] * v[k];
      y[k] += row[k] * factors[r];
    }
  }
}

}  // namespace TW_ISA
}  // namespace topwork
