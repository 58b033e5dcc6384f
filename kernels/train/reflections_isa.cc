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
// Vectors that are reflected at once, and rows of them in flight.
constexpr int kLanes = 8;
constexpr int kLaneVectors = kLanes / kDoubles;
constexpr int kRows = 2;

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

void Reflect(const double* v, double beta, int64_t n, double* x) {
  Doubles sums[kRows][kLaneVectors] = {};
  int64_t j = 0;
  for (; j + kRows <= n; j += kRows) {
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < kLaneVectors; ++k) {
        sums[r][k] += v[j + r] * Load(x + (j + r) * kLanes + k * kDoubles);
      }
    }
  }
  for (; j < n; ++j) {
    for (int k = 0; k < kLaneVectors; ++k) {
      sums[0][k] += v[j] * Load(x + j * kLanes + k * kDoubles);
    }
  }
  for (int k = 0; k < kLaneVectors; ++k) sums[0][k] = beta * (sums[0][k] + sums[1][k]);
  for (j = 0; j < n; ++j) {
    for (int k = 0; k < kLaneVectors; ++k) {
      double* to = x + j * kLanes + k * kDoubles;
      const Doubles updated = Load(to) - v[j] * sums[0][k];
      Store(to, updated);
    }
  }
}

}  // namespace TW_ISA
}  // namespace topwork
