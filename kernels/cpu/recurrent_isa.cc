// The fixed-point functions of recurrent cells, one instruction set's copy (see recurrent.h).
//
// Lanes are 32 bits wide and hold 16-bit values. e^x for x ≤ 0: the remainder of x to a multiple of
// 1/4 by Taylor's series around −1/8, then a factor e^-2^k for every bit of the multiple. 1/(1+e)
// and (1−e)/(1+e): three of Newton's steps towards the reciprocal of (1 + e) / 2.
#include "kernels/cpu/recurrent.h"
#include "kernels/cpu/simd_quant.h"

namespace topwork {
namespace TW_ISA {
namespace {

TW_INLINE IVec Saturate(IVec v) { return ClampInts(v, Broadcast(-32768), Broadcast(32767)); }

// The product of two numbers of which at most one has bits before the point: a * b / 2^15, rounded.
TW_INLINE IVec Times(IVec a, IVec b) {
  const IVec product = (a * b + 16384) >> 15;
  return product > 32767 ? Broadcast(32767) : product;  // −1 times −1
}

// x / 2^n, ties away from zero.
TW_INLINE IVec Halve(IVec x, int n) {
  const int32_t mask = (1 << n) - 1;
  const IVec threshold = (mask >> 1) - (x >> 31);
  return (x >> n) - ((x & mask) > threshold);
}

// e^x for x in [−1/4, 0) of Q0.15.
TW_INLINE IVec ExpSmall(IVec a) {
  const IVec x = a + (1 << 12);
  const IVec x2 = Times(x, x), x3 = Times(x2, x), x4 = Times(x2, x2);
  const IVec third = Broadcast(10923), constant = Broadcast(28918);  // 1/3, e^(−1/8)
  const IVec rest = Halve(Times(Halve(x4, 2) + x3, third) + x2, 1);
  return Saturate(constant + Times(constant, x + rest));
}

// e^x for x ≤ 0 with `integer_bits` (1 to 7) before the point; Q0.15.
TW_INLINE IVec ExpOfNegative(IVec a, int integer_bits) {
  constexpr int32_t kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};  // e^-2^k, k from −2
  const int fraction = 15 - integer_bits;
  const int32_t quarter = 1 << (fraction - 2);
  const IVec low = (a & (quarter - 1)) - quarter;
  IVec result = ExpSmall(low << Broadcast(integer_bits));
  const IVec multiple = low - a;
  for (int k = -2; k < integer_bits && k <= 4; ++k) {
    const IVec set = (multiple & Broadcast(1 << (fraction + k))) != 0;
    const IVec product = Times(result, Broadcast(kFactors[k + 2]));
    result = set ? product : result;
  }
  if (integer_bits > 5) {
    const IVec far = a < Broadcast(-(1 << (20 - integer_bits)));  // below −32
    result = far ? IVec{} : result;
  }
  const IVec zero = a == 0;
  return zero ? Broadcast(32767) : result;
}

// 2 / (1 + e) for e in [0, 1] of Q0.15; Q2.13.
TW_INLINE IVec TwiceReciprocal(IVec e) {
  const IVec half = (e + 32768) >> 1;
  IVec x = 23130 + Times(half, Broadcast(-15420));  // 48/17 − 32/17 half
  for (int i = 0; i < 3; ++i) {
    const IVec error = 8192 - Times(half, x);
    x += Saturate(Times(x, error) << 2);
  }
  return x;
}

TW_INLINE IVec Logistic(IVec x) {
  const IVec sign = x > 0;
  const IVec minus = sign ? -x : x;
  const IVec positive = Saturate(TwiceReciprocal(ExpOfNegative(minus, 3)) << 1);
  const IVec result = sign ? positive : 32767 - positive;
  const IVec zero = x == 0;
  return zero ? Broadcast(16384) : result;
}

TW_INLINE IVec Tanh(IVec x, int integer_bits) {
  const IVec sign = x < 0;
  const IVec minus = sign ? x : -x;
  const IVec twice = TwiceReciprocal(ExpOfNegative(minus, integer_bits + 1));
  const IVec size = Saturate((twice - 8192) << 2);
  const IVec result = sign ? -size : size;
  const IVec zero = x == 0;
  return zero ? IVec{} : result;
}

template <typename F>
TW_INLINE void Map(const int16_t* x, int16_t* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreLanes(y + i, f(LoadLanes(x + i)));
  if (i == n) return;
  int16_t from[kLanes] = {}, to[kLanes];
  for (int64_t k = i; k < n; ++k) from[k - i] = x[k];
  StoreLanes(to, f(LoadLanes(from)));
  for (int64_t k = i; k < n; ++k) y[k] = to[k - i];
}

void AddScaled(const int32_t* x, const int32_t* bias, int64_t n, FixedFactor factor, int16_t* y) {
  const VectorFactors factors = SpreadFactor(factor.mantissa, factor.shift);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const IVec scaled = ApplyFactors(factors, LoadInts(x + i) + LoadInts(bias + i));
    // Far from overflow in int32 whatever y is.
    const IVec bounded = ClampInts(scaled, Broadcast(-65536), Broadcast(65535));
    StoreLanes(y + i, Saturate(bounded + LoadLanes(y + i)));
  }
  if (i == n) return;
  int32_t xs[kLanes] = {}, biases[kLanes] = {};
  int16_t ys[kLanes] = {};
  for (int64_t k = i; k < n; ++k) {
    xs[k - i] = x[k];
    biases[k - i] = bias[k];
    ys[k - i] = y[k];
  }
  const IVec scaled = ApplyFactors(factors, LoadInts(xs) + LoadInts(biases));
  const IVec bounded = ClampInts(scaled, Broadcast(-65536), Broadcast(65535));
  StoreLanes(ys, Saturate(bounded + LoadLanes(ys)));
  for (int64_t k = i; k < n; ++k) y[k] = ys[k - i];
}

void LogisticOf(const int16_t* x, int16_t* y, int64_t n) {
  Map(x, y, n, [](IVec v) { return Logistic(v); });
}

void TanhOf(const int16_t* x, int16_t* y, int64_t n, int integer_bits) {
  Map(x, y, n, [=](IVec v) { return Tanh(v, integer_bits); });
}

}  // namespace

extern const RecurrentKernels kRecurrentKernels;
const RecurrentKernels kRecurrentKernels = {AddScaled, LogisticOf, TanhOf};

}  // namespace TW_ISA
}  // namespace topwork
