// Roots and the order of numbers for Cooley and Tukey's algorithm (see fourier.h).
#include "kernels/ops/signal/fourier.h"

#include <cmath>

namespace topwork {
namespace {

// Numbers of two sequences. (Their number is even: vectors hold 16 bytes at least.)
typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));
Pair& At(double* x) { return *reinterpret_cast<Pair*>(x); }

// Number i of n of each sequence, side by side; 0 beyond its end.
void PutReal(const Fourier::Real& from, int64_t i, int64_t n, int64_t lanes, double* to) {
  const bool is_there = i < from.n && i < n;
  const int64_t count = is_there ? from.n_sequences : 0;
  const double weight = is_there && from.weights != nullptr ? from.weights[i] : 1.0;
  for (int64_t lane = 0; lane < count; ++lane) {
    to[lane] = static_cast<double>(from.begins[lane][i * from.step]) * weight;
  }
  for (int64_t lane = count; lane < lanes; ++lane) to[lane] = 0.0;
}

}  // namespace

void Fourier::Prepare(const CpuKernels& cpu, int64_t longest) {
  kernels_ = cpu.fourier;
  roots_.assign(static_cast<size_t>(2 * longest), 0.0);
  for (int64_t half = 1; half < longest; half *= 2) {
    const double turn = -3.14159265358979323846 / static_cast<double>(half);
    for (int64_t k = 0; k < half; ++k) {
      double* root = &roots_[static_cast<size_t>(2 * (half + k))];
      root[0] = std::cos(turn * static_cast<double>(k));
      root[1] = std::sin(turn * static_cast<double>(k));
    }
  }
}

int64_t Fourier::PlaceOf(int64_t k, int64_t n) const {
  int64_t reversed = 0;
  for (int64_t bit = 1; bit < n; bit *= 2) {
    reversed = 2 * reversed + (k & 1);
    k >>= 1;
  }
  return 2 * reversed * lanes();
}

// With z[k] = x[2 k] + i x[2 k + 1] and Z its transform, h = n / 2 and Z[h] = Z[0]:
//   X[u] = (Z[u] + conj Z[h - u]) / 2 - i exp(-2 pi i u / n) (Z[u] - conj Z[h - u]) / 2.
// (Cooley, Lewis and Welch 1970.)
void Fourier::TransformReal(const Real& from, double* x, int64_t n) const {
  const int64_t h = n > 1 ? n / 2 : 1, lanes = this->lanes(), number = 2 * lanes;
  int64_t reversed = 0;  // the bits of k
  for (int64_t k = 0; k < h; ++k) {
    double* to = x + reversed * number;
    PutReal(from, 2 * k, n, lanes, to);
    PutReal(from, 2 * k + 1, n, lanes, to + lanes);
    int64_t bit = h / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed -= bit;  // one is added from the left
    reversed += bit;
  }
  if (n == 1) return;
  Transform(x, h);
  for (int64_t i = 0; i < number; ++i) x[h * number + i] = x[i];
  for (int64_t u = 0; u <= h - u; ++u) {
    double *const low = x + u * number, *const high = x + (h - u) * number;
    const double* root = &roots_[static_cast<size_t>(2 * (h + u))];
    for (int64_t i = 0; i < lanes; i += 2) {
      const Pair low_re = At(low + i), low_im = At(low + lanes + i);
      const Pair high_re = At(high + i), high_im = At(high + lanes + i);
      const Pair even_re = 0.5 * (low_re + high_re), even_im = 0.5 * (low_im - high_im);
      const Pair odd_re = 0.5 * (low_im + high_im), odd_im = 0.5 * (high_re - low_re);
      const Pair re = odd_re * root[0] - odd_im * root[1];
      const Pair im = odd_re * root[1] + odd_im * root[0];
      At(low + i) = even_re + re;
      At(low + lanes + i) = even_im + im;
      At(high + i) = even_re - re;
      At(high + lanes + i) = im - even_im;
    }
  }
}

}  // namespace topwork
