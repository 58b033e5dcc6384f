// exp, log, tanh, erf and rounding on vectors; included by *_isa.cc files only.
//
// Each function is a range reduction and a minimax polynomial, with an error of at most 3 units in
// the last place over all floats (measured against double precision). NaN gives NaN, infinities are
// handled. One formula for all instruction sets, but for the Logistic of AVX2 and AVX-512: results differ
// between them only by the rounding of fused multiply-adds.
#ifndef TOPWORK_KERNELS_CPU_VECTOR_MATH_H_
#define TOPWORK_KERNELS_CPU_VECTOR_MATH_H_

#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {

typedef int32_t VecI __attribute__((vector_size(kVectorBytes)));
typedef uint32_t VecU __attribute__((vector_size(kVectorBytes)));

TW_INLINE Vec Splat(float value) { return value - Vec{}; }  // a sum would turn -0 into 0
TW_INLINE VecI SignBit(Vec x) { return (VecI)((VecU)x & 0x80000000u); }
TW_INLINE Vec Abs(Vec x) { return (Vec)((VecU)x & 0x7fffffffu); }
// |x| ≥ 0 with the sign of `sign`.
TW_INLINE Vec WithSign(Vec x, Vec sign) { return (Vec)((VecI)x | SignBit(sign)); }

// To the nearest integer, ties to even; keeps the sign of zero.
TW_INLINE Vec Rint(Vec x) {
  constexpr float kTwo23 = 8388608.0f;
  const Vec a = Abs(x);
  const Vec rounded = (a + kTwo23) - kTwo23;
  return WithSign(a < kTwo23 ? rounded : a, x);
}

TW_INLINE Vec Floor(Vec x) {
  const Vec rounded = Rint(x);
  return rounded > x ? rounded - 1.0f : rounded;
}

TW_INLINE Vec Ceil(Vec x) {
  const Vec rounded = Rint(x);
  return rounded < x ? WithSign(Abs(rounded + 1.0f), x) : rounded;
}

// x = n ln 2 + r with |r| ≤ ln 2 / 2; returns e^r - 1, and n as a real number. |x| must be below 2^15.
TW_INLINE Vec ExpReduced(Vec x, Vec* n) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const Vec whole = (x * 1.44269504f + kShift) - kShift;
  const Vec r = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
  Vec p = Splat(0.00138145406f);
  p = p * r + 0.00836874545f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  *n = whole;
  return (p * r) * r + r;
}

// 2^n for integers -126 ≤ n ≤ 127.
TW_INLINE Vec PowerOfTwo(VecI n) { return (Vec)(((VecU)n + 127u) << 23); }

// x 2^n for 1/2 ≤ x ≤ 2 and integers -151 ≤ n ≤ 129.
TW_INLINE Vec Scaled(Vec x, Vec n) {
#if defined(__AVX512F__)
  return (Vec)_mm512_scalef_ps((__m512)x, (__m512)n);
#else
  // In two steps, so that results near both ends of the range neither overflow nor flush early.
  const VecI whole = __builtin_convertvector(n, VecI);
  const VecI half = whole >> 1;
  return x * PowerOfTwo(half) * PowerOfTwo((VecI)((VecU)whole - (VecU)half));
#endif
}

TW_INLINE Vec Exp(Vec x) {
  Vec n;
  const Vec e = ExpReduced(Clamp(x, Splat(-104.0f), Splat(89.0f)), &n);
  return Scaled(e + 1.0f, n);
}

// e^x - 1 for x ≤ 0, without the cancellation near 0.
TW_INLINE Vec Expm1OfNegative(Vec x) {
  Vec n;
  const Vec e = ExpReduced(Clamp(x, Splat(-25.0f), Splat(0.0f)), &n);
  const Vec scale = PowerOfTwo(__builtin_convertvector(n, VecI));
  return e * scale + (scale - 1.0f);
}

TW_INLINE Vec Tanh(Vec x) {
  const Vec t = Expm1OfNegative(Abs(x) * -2.0f);
  return WithSign(Abs(t / (t + 2.0f)), x);
}

// e^x for x ≤ 0, with the bits of Exp.
TW_INLINE Vec ExpOfNegative(Vec x) {
#if defined(__AVX512F__)
  Vec n;
  const Vec e = ExpReduced((Vec)_mm512_max_ps((__m512)Splat(-104.0f), (__m512)x), &n);  // NaN stays
  return Scaled(e + 1.0f, n);
#else
  // The scale is 2^64 times as large, which no result exceeds, so that one factor serves those near the
  // range's end, too; the last product alone rounds. 2^n comes from the number that rounds to n.
  constexpr float kShift = 12582912.0f;  // as in ExpReduced
  Vec n;
  const Vec e = ExpReduced(Clamp(x, Splat(-104.0f), Splat(0.0f)), &n) + 1.0f;
  const VecU scale = ((VecU)(n + kShift) << 23) + ((127u + 64u) << 23);
  return e * (Vec)scale * 5.42101086e-20f;
#endif
}

TW_INLINE Vec LogisticOfAll(Vec x) {
  const Vec e = ExpOfNegative((Vec)((VecU)x | 0x80000000u));  // of -|x|
  return (x < 0.0f ? e : Splat(1.0f)) / (1.0f + e);
}

#if defined(__AVX2__) && !defined(__OPTIMIZE_SIZE__)
// 2^n for n = k / kLanes, given the bits of k + a shift that rounded to such numbers. The entries of the
// table, one for each lane, lack the part of k that its bits add beside the exponent.
TW_INLINE Vec PowerOfPart(Vec shifted) {
#if defined(__AVX512F__)
  const VecU table = {0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
                      0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
                      0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
  const VecU entry = (VecU)_mm512_permutexvar_epi32((__m512i)shifted, (__m512i)table);
  return (Vec)(entry + ((VecU)shifted << 19));
#else
  const VecU table = {0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
                      0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};
  const VecU entry = (VecU)_mm256_permutevar8x32_epi32((__m256i)table, (__m256i)shifted);
  return (Vec)(entry + ((VecU)shifted << 20));
#endif
}

// For |x| ≤ 87, where e^x and its sum with 1 are normal numbers: e^x / (1 + e^x).
// x = k / kLanes ln 2 + r, |r| ≤ ln 2 / (2 kLanes). AVX-512 divides by an estimate of 14 bits, and adds
// what remains: a division takes longer. (Over all floats the error is at most 2.2 units in the last place,
// with AVX2 2.94.)
TW_INLINE Vec LogisticOfSome(Vec x) {
  constexpr float kShift = 12582912.0f / kLanes;  // adding it rounds to a multiple of 1 / kLanes
  const Vec shifted = x * 1.44269504f + kShift, whole = shifted - kShift;
  const Vec r = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
  const Vec scale = PowerOfPart(shifted);
#if defined(__AVX512F__)
  const Vec e = scale * ((r * 0.166666667f + 0.50001955f) * (r * r) + r) + scale;
  const Vec estimate = (Vec)_mm512_rcp14_ps((__m512)(e + 1.0f)), q = e * estimate;
  const Vec rest = (Vec)_mm512_fnmadd_ps((__m512)q, (__m512)e, (__m512)(e - q));
  return rest * estimate + q;
#else
  const Vec e = scale * ((r * 0.166666667f + 0.50006479f) * (r * r) + r) + scale;
  return e / (e + 1.0f);
#endif
}

TW_INLINE Vec Logistic(Vec x) {
  const Vec y = LogisticOfSome(x);
#if defined(__AVX512F__)
  const __mmask16 others = _mm512_cmp_ps_mask((__m512)Abs(x), (__m512)Splat(87.0f), _CMP_NLE_UQ);
  if (__builtin_expect(others == 0, 1)) return y;
  return (Vec)_mm512_mask_blend_ps(others, (__m512)y, (__m512)LogisticOfAll(x));
#else
  const VecI some = Abs(x) <= 87.0f;
  if (__builtin_expect(_mm256_movemask_ps((__m256)some) == 255, 1)) return y;
  return some ? y : LogisticOfAll(x);
#endif
}
#else
TW_INLINE Vec Logistic(Vec x) { return LogisticOfAll(x); }
#endif

TW_INLINE Vec Log(Vec x) {
  const Vec scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
  const VecI sub = (VecI)(x < 1.17549435e-38f) & 23;
  const VecU bits = (VecU)scaled;
  const VecI k = (VecI)(bits - 0x3f3504f3u) >> 23;  // scaled = 2^k (1 + f), √½ ≤ 1 + f < √2
  const Vec f = (Vec)(bits - ((VecU)k << 23)) - 1.0f;
  const Vec e = __builtin_convertvector(k - sub, Vec);
  Vec p = Splat(0.0675205886f);
  p = p * f - 0.116849706f;
  p = p * f + 0.11890848f;
  p = p * f - 0.124043435f;
  p = p * f + 0.142190531f;
  p = p * f - 0.166680425f;
  p = p * f + 0.200021431f;
  p = p * f - 0.250000089f;
  p = p * f + 0.333333135f;
  const Vec square = f * f;
  Vec y = (p * f) * square + e * -2.12194440e-4f;
  y = y - 0.5f * square;
  y = (y + f) + e * 0.693359375f;
  y = x > 0.0f ? y : Splat(-__builtin_inff());
  y = x < __builtin_inff() ? y : x;  // infinity and NaN
  return x < 0.0f ? Splat(__builtin_nanf("")) : y;
}

TW_INLINE Vec Erf(Vec x) {
  const Vec a = Abs(x);
  const Vec s = a * a;
  Vec low = Splat(7.88911566e-05f);
  low = low * s - 0.000802083989f;
  low = low * s + 0.00518953521f;
  low = low * s - 0.0268544443f;
  low = low * s + 0.112836003f;
  low = low * s - 0.37612626f;
  low = low * s + 1.12837911f;
  low = low * a;
  // Above 1: erf = 1 - e^-q.
  const Vec b = a > 4.0f ? Splat(4.0f) : a;
  Vec q = Splat(-0.000191505038f);
  q = q * b + 0.00299954903f;
  q = q * b - 0.0220520291f;
  q = q * b + 0.103566952f;
  q = q * b + 0.637599945f;
  q = q * b + 1.12742615f;
  q = q * b + 0.000256436644f;
  const Vec high = 1.0f - Exp(-q);
  return WithSign(Abs(a < 1.0f ? low : high), x);
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_VECTOR_MATH_H_
