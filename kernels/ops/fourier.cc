// Cooley and Tukey's algorithm, in place (see fourier.h).
#include "kernels/ops/fourier.h"

#include <cmath>
#include <utility>

namespace topwork {

void Fourier::Prepare(int64_t longest) {
  const double turn = -2.0 * 3.14159265358979323846 / static_cast<double>(longest);
  for (int64_t k = 0; k < longest / 2; ++k) {
    roots_.push_back(std::polar(1.0, turn * static_cast<double>(k)));
  }
}

void Fourier::Transform(Complex* x, int64_t n, int64_t stride) const {
  for (int64_t i = 1, j = 0; i < n; ++i) {  // j is i with its bits reversed
    int64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i * stride], x[j * stride]);
  }
  const int64_t n_roots = 2 * static_cast<int64_t>(roots_.size());
  for (int64_t half = 1; half < n; half *= 2) {
    const int64_t step = n_roots / (2 * half);
    for (int64_t begin = 0; begin < n; begin += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        const Complex root = roots_[static_cast<size_t>(k * step)];
        Complex& a = x[(begin + k) * stride];
        Complex& b = x[(begin + k + half) * stride];
        // Written out: the product of std::complex looks for infinities.
        const Complex turned(b.real() * root.real() - b.imag() * root.imag(),
                             b.real() * root.imag() + b.imag() * root.real());
        b = a - turned;
        a += turned;
      }
    }
  }
}

}  // namespace topwork
