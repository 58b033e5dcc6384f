// The Fourier transforms' loops, one instruction set's copy (see fourier.h): Cooley and Tukey's algorithm,
// two of its passes at once, so that each number is loaded and stored half as often.
#include "kernels/cpu/fourier.h"
#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kDoubles = kVectorBytes / 8;
typedef double DVec __attribute__((vector_size(kVectorBytes)));
typedef double DVecAnywhere __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));

struct Complex {
  DVec re, im;
};

TW_INLINE Complex At(const double* x) {
  const DVecAnywhere* parts = reinterpret_cast<const DVecAnywhere*>(x);
  return {parts[0], parts[1]};
}
TW_INLINE void Put(double* x, Complex v) {
  DVecAnywhere* parts = reinterpret_cast<DVecAnywhere*>(x);
  parts[0] = v.re;
  parts[1] = v.im;
}
TW_INLINE Complex Sum(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
TW_INLINE Complex Less(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
TW_INLINE Complex Times(Complex a, const double* root) {
  return {a.re * root[0] - a.im * root[1], a.re * root[1] + a.im * root[0]};
}

constexpr int64_t kNumber = 2 * kDoubles;  // doubles of a complex number

TW_INLINE void OnePass(double* x, int64_t step, const double* root) {
  const Complex a = At(x), b = Times(At(x + step), root);
  Put(x, Sum(a, b));
  Put(x + step, Less(a, b));
}

#ifdef __OPTIMIZE_SIZE__
// One pass at a time: half the code.
void Transform(double* x, int64_t n, const double* roots) {
  for (int64_t half = 1; half < n; half *= 2) {
    for (int64_t i = 0; i < n; ++i) {
      if ((i & half) == 0)
        OnePass(x + i * kNumber, half * kNumber, roots + 2 * (half + (i & (half - 1))));
    }
  }
}
#else
// The passes of `half` and 2 `half`, over numbers that are `half` apart.
TW_INLINE void TwoPasses(double* x, int64_t half, const double* one, const double* two) {
  const int64_t step = half * kNumber;
  const Complex a = At(x), b = Times(At(x + step), one);
  const Complex c = At(x + 2 * step), d = Times(At(x + 3 * step), one);
  const Complex p = Sum(a, b), q = Less(a, b);
  const Complex r = Times(Sum(c, d), two),
                s = Times(Less(c, d), two);  // s is yet to be turned by -i
  Put(x, Sum(p, r));
  Put(x + step, {q.re + s.im, q.im - s.re});
  Put(x + 2 * step, Less(p, r));
  Put(x + 3 * step, {q.re - s.im, q.im + s.re});
}

void Transform(double* x, int64_t n, const double* roots) {
  int64_t half = 1;
  for (int64_t left = n; left > 1; left /= 4) {
    if (left != 2) continue;  // an odd number of passes: one alone
    for (int64_t i = 0; i < n; i += 2) OnePass(x + i * kNumber, kNumber, roots + 2);
    half = 2;
  }
  for (; half < n; half *= 4) {
    for (int64_t begin = 0; begin < n; begin += 4 * half) {
      for (int64_t k = 0; k < half; ++k) {
        TwoPasses(x + (begin + k) * kNumber, half, roots + 2 * (half + k),
                  roots + 2 * (2 * half + k));
      }
    }
  }
}
#endif

}  // namespace

extern const FourierKernels kFourierKernels;
const FourierKernels kFourierKernels = {kDoubles, Transform};

}  // namespace TW_ISA
}  // namespace topwork
