// FourierKernels: discrete Fourier transforms of several sequences side by side, in double.
//
// Number k of the sequences lies at x[2 k lanes]: the real part of each, then the imaginary part of each.
// All functions allocate nothing and may run on any thread.
#ifndef TOPWORK_KERNELS_CPU_FOURIER_H_
#define TOPWORK_KERNELS_CPU_FOURIER_H_

#include <cstdint>

namespace topwork {

struct FourierKernels {
  int lanes;  // sequences side by side
  // X[u] = sum over k of x[k] exp(-2 pi i u k / n), in place; n = 2^j complex numbers, in the order of their
  // numbers' reversed bits. `roots`: exp(-2 pi i k / (2 half)) at [2 (half + k)], k < half, for every power
  // of two `half` below n; real part, imaginary part.
  void (*transform)(double* x, int64_t n, const double* roots);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_FOURIER_H_
