// The discrete Fourier transform of 2^j numbers in double, of several sequences side by side.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/fourier.h"

namespace topwork {

class Fourier {
 public:
  static constexpr int kMostLanes = 8;

  // For transforms of up to `longest` numbers, a power of two.
  void Prepare(const CpuKernels& cpu, int64_t longest);
  int lanes() const { return kernels_->lanes; }
  // Doubles of memory for transforms of `n` complex numbers.
  int64_t MemoryOf(int64_t n) const { return 2 * n * lanes(); }
  // Where real part of complex number k of n lies before a transform, for the first sequence; that of the
  // next one follows, and the imaginary parts behind all of them. Afterwards number k is at 2 k lanes().
  int64_t PlaceOf(int64_t k, int64_t n) const;
  // X[u] = sum over k of x[k] exp(-2 pi i u k / n), in place.
  void Transform(double* x, int64_t n) const { kernels_->transform(x, n, roots_.data()); }
  // Real numbers of several sequences: number i of sequence j is begins[j][i step].
  struct Real {
    const float* begins[kMostLanes];
    int64_t n_sequences, n, step;
    const double* weights;  // what each is multiplied by; null: 1
  };
  // X[0] to X[n / 2] of each sequence, which zeros fill to n = 2^j numbers; x holds n / 2 + 1.
  void TransformReal(const Real& from, double* x, int64_t n) const;

 private:
  LoopFamily<FourierKernels> kernels_;
  // exp(-2 pi i k / (2 half)) at [2 (half + k)], k < half, for every power of two `half`.
  std::vector<double> roots_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_FOURIER_H_
