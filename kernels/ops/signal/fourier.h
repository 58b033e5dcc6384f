// The discrete Fourier transform of 2^j numbers in double, by Cooley and Tukey's algorithm.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_

#include <complex>
#include <cstdint>
#include <vector>

namespace topwork {

class Fourier {
 public:
  using Complex = std::complex<double>;

  // For transforms of up to `longest` numbers, a power of two.
  void Prepare(int64_t longest);
  // X[u] = sum over k of x[k] exp(-2 pi i u k / n), in place; n = 2^j values.
  void Transform(Complex* x, int64_t n) const;
  // The same of n real numbers, which lie in x one after the other (n = 1: an imaginary part of 0
  // follows); leaves X[0] to X[n / 2], n / 2 + 1 values. (The transform of half as many complex
  // numbers; Cooley, Lewis and Welch 1970.)
  void TransformReal(Complex* x, int64_t n) const;

 private:
  // exp(-2 pi i k / (2 half)) at [half + k], k < half, for every power of two `half`.
  std::vector<Complex> roots_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_
