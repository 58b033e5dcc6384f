// The discrete Fourier transform of 2^k complex numbers in double, by Cooley and Tukey's algorithm.
#ifndef TOPWORK_KERNELS_OPS_FOURIER_H_
#define TOPWORK_KERNELS_OPS_FOURIER_H_

#include <complex>
#include <cstdint>
#include <vector>

namespace topwork {

class Fourier {
 public:
  using Complex = std::complex<double>;

  // For transforms of up to `longest` numbers, a power of two.
  void Prepare(int64_t longest);
  // X[u] = sum over k of x[k] exp(-2 pi i u k / n), in place; n = 2^j values that lie `stride`
  // apart.
  void Transform(Complex* x, int64_t n, int64_t stride) const;

 private:
  std::vector<Complex> roots_;  // exp(-2 pi i k / longest), k < longest / 2
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_FOURIER_H_
