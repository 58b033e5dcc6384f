// The Fourier transform of real numbers as kissfft 1.3.0 rounds it, which TFLite Micro brings along:
// float32, and 16 or 32 bits in fixed point, to the bit.
//
// Cooley and Tukey's algorithm (1965), decimation in time by the factors 4, 2, 3 and 5, in that
// order. A transform of n real numbers is one of n / 2 complex ones and a last pass that takes the
// even and the odd numbers apart (Cooley, Lewis and Welch 1970). Integers have one bit of sign,
// the rest is a fraction; each pass divides by its factor first, so results are 1 / n of the
// definition's. Sums wrap.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_MIXED_RADIX_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_MIXED_RADIX_H_

#include <cstdint>
#include <memory>

#include "runtime/tensor/tensor.h"

namespace topwork {

// Arithmetic on numbers of int16, int32 or float32, chosen while running, because code for each
// would be three times as long. A number is an int32; float32 lies there by its bits.
class FourierNumbers {
 public:
  struct Complex {
    int32_t r, i;
  };

  explicit FourierNumbers(DType dtype);
  Complex RootAt(double phase) const;
  // a + sign b; half of it, where 16-bit numbers do not wrap before.
  int32_t Sum(int32_t a, int32_t b, int sign) const;
  int32_t HalfSum(int32_t a, int32_t b, int sign) const;
  // a b + sign c d, rounded once.
  int32_t Products(int32_t a, int32_t b, int32_t c, int32_t d, int sign) const;
  int32_t Divide(int32_t x, int by) const;  // float32: x

  Complex Sum(Complex a, Complex b, int sign) const;
  Complex SumTurned(Complex a, Complex b, int sign) const;  // a + sign i b
  Complex Mul(Complex a, Complex b) const;
  Complex Times(Complex a, int32_t by) const;
  Complex Divide(Complex a, int by) const;

 private:
  int32_t most() const { return INT32_MAX >> unused_; }
  int32_t Wrap(int32_t x) const;

  bool real_;
  int unused_;  // bits of an integer
};

class MixedRadix {
 public:
  using Complex = FourierNumbers::Complex;

  explicit MixedRadix(DType dtype) : numbers_(dtype) {}
  // For n real numbers, n even; false where n / 2 is 1 or has a prime factor above 5.
  bool Prepare(int n, bool inverse);
  bool inverse() const { return inverse_; }
  // n numbers to n / 2 + 1 complex ones, and back. `work` holds n / 2; nothing may overlap.
  void Forward(const int32_t* in, Complex* work, Complex* out) const;
  void Inverse(const Complex* in, Complex* work, int32_t* out) const;

 private:
  struct Pass {
    int factor, rest;
  };

  void Transform(Complex* out, const Complex* in, int64_t stride, const Pass* pass) const;
  void Join(Complex* out, int64_t k, int64_t stride, Pass pass) const;
  void Join3(Complex* out, const Complex* x, int64_t rest, int64_t stride) const;
  void Join4(Complex* out, const Complex* x, int64_t rest) const;
  void Join5(Complex* out, const Complex* x, int64_t rest, int64_t stride) const;
  void Split(const Complex* x, int64_t k, Complex* sum, Complex* turned) const;

  const FourierNumbers numbers_;
  int64_t n_ = 0;  // of complex numbers
  bool inverse_ = false;
  Pass passes_[32] = {};
  std::unique_ptr<Complex[]> roots_;       // exp(-2 pi i k / n_), its conjugate for the inverse
  std::unique_ptr<Complex[]> half_roots_;  // exp(-pi i ((k + 1) / n_ + 1 / 2)), likewise
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_MIXED_RADIX_H_
