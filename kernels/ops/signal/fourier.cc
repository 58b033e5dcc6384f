// Cooley and Tukey's algorithm, in place (see fourier.h). Products are written out: that of
// std::complex looks for infinities.
#include "kernels/ops/signal/fourier.h"

#include <cmath>
#include <utility>

namespace topwork {
namespace {

using Complex = Fourier::Complex;

Complex Multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// x[i] goes to the place whose number has i's bits in reverse.
void ReverseBits(Complex* x, int64_t n) {
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
}

// a[k], b[k] = a[k] + b[k] * roots[k], a[k] - b[k] * roots[k]; complex numbers as pairs.
void Butterflies(double* __restrict a, double* __restrict b, const double* __restrict roots,
                 int64_t n) {
  for (int64_t k = 0; k < 2 * n; k += 2) {
    const double real = b[k] * roots[k] - b[k + 1] * roots[k + 1];
    const double imag = b[k] * roots[k + 1] + b[k + 1] * roots[k];
    const double a_real = a[k], a_imag = a[k + 1];
    a[k] = a_real + real;
    a[k + 1] = a_imag + imag;
    b[k] = a_real - real;
    b[k + 1] = a_imag - imag;
  }
}

}  // namespace

void Fourier::Prepare(int64_t longest) {
  roots_.assign(static_cast<size_t>(longest), Complex(1.0, 0.0));
  for (int64_t half = 1; half < longest; half *= 2) {
    const double turn = -3.14159265358979323846 / static_cast<double>(half);
    for (int64_t k = 0; k < half; ++k) {
      roots_[static_cast<size_t>(half + k)] = std::polar(1.0, turn * static_cast<double>(k));
    }
  }
}

void Fourier::Transform(Complex* x, int64_t n) const {
  ReverseBits(x, n);
  for (int64_t i = 0; i + 1 < n; i += 2) {
    const Complex a = x[i], b = x[i + 1];
    x[i] = a + b;
    x[i + 1] = a - b;
  }
  double* const parts = reinterpret_cast<double*>(x);  // the standard's layout of std::complex
  for (int64_t half = 2; half < n; half *= 2) {
    const double* roots = reinterpret_cast<const double*>(roots_.data() + half);
    for (int64_t begin = 0; begin < n; begin += 2 * half) {
      Butterflies(parts + 2 * begin, parts + 2 * (begin + half), roots, half);
    }
  }
}

// With z[k] = x[2 k] + i x[2 k + 1] and Z its transform, h = n / 2 and Z[h] = Z[0]:
//   X[u] = (Z[u] + conj Z[h - u]) / 2 - i exp(-2 pi i u / n) (Z[u] - conj Z[h - u]) / 2.
void Fourier::TransformReal(Complex* x, int64_t n) const {
  if (n == 1) return;
  const int64_t h = n / 2;
  Transform(x, h);
  x[h] = x[0];
  for (int64_t u = 0; u <= h - u; ++u) {
    const Complex one = x[u], two = std::conj(x[h - u]);
    const Complex even = 0.5 * (one + two), odd = 0.5 * (one - two);
    const Complex turned =
        Multiply(Complex(odd.imag(), -odd.real()), roots_[static_cast<size_t>(h + u)]);
    x[u] = even + turned;
    x[h - u] = std::conj(even - turned);
  }
}

}  // namespace topwork
