// Words of two bfloat16 numbers: rounding float32 to them, and their products. For gemm_half_isa.cc.
//
// Rounding is to nearest, ties to even. A product reads subnormal numbers as zero. NEON's sums round
// to odd, AVX-512's to nearest.
#ifndef TOPWORK_KERNELS_CPU_BFLOAT16_WORDS_H_
#define TOPWORK_KERNELS_CPU_BFLOAT16_WORDS_H_

#if defined(__AVX512BF16__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {
namespace {

// LoadSome: the first `count` lanes of p, zeros behind them; count may be below 0 or above kLanes.
// StoreSome: the first `count` ≤ kLanes lanes.
// RoundPairs: word i is the values 2 i and 2 i + 1 of those in `first` and then `second`.
// RoundRows: word i is low[i] and high[i], the latter in the upper half.
// AddProducts: acc[i] + w[i].low * x[i].low + w[i].high * x[i].high.
// NEON only, of halves of vectors, two words each:
// JoinLow, JoinHigh: the lower halves of a and b, or the upper ones. LoadHalves: a half each.
// AddBlocks: acc[2 i + j] + half i of x times half j of w, four products each.

#if defined(__AVX512BF16__)

TW_INLINE Vec Bits(__m512bh v) { return reinterpret_cast<Vec>(v); }
TW_INLINE __m512 Floats(Vec v) { return reinterpret_cast<__m512>(v); }
TW_INLINE __mmask16 Mask(int64_t count) {
  if (count <= 0) return 0;
  return count >= kLanes ? __mmask16(0xffff) : __mmask16((1u << count) - 1u);
}

TW_INLINE Vec Broadcast(float word) { return reinterpret_cast<Vec>(_mm512_set1_ps(word)); }
TW_INLINE Vec LoadSome(const float* p, int64_t count) {
  return reinterpret_cast<Vec>(_mm512_maskz_loadu_ps(Mask(count), p));
}
TW_INLINE void StoreSome(float* p, Vec v, int64_t count) {
  _mm512_mask_storeu_ps(p, Mask(count), Floats(v));
}
TW_INLINE Vec RoundPairs(Vec first, Vec second) {
  return Bits(_mm512_cvtne2ps_pbh(Floats(second), Floats(first)));
}
TW_INLINE __m512i Halves(Vec v) {
  return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(Floats(v))));
}
TW_INLINE Vec RoundRows(Vec low, Vec high) {
  return reinterpret_cast<Vec>(_mm512_or_si512(Halves(low), _mm512_slli_epi32(Halves(high), 16)));
}
TW_INLINE Vec AddProducts(Vec acc, Vec w, Vec x) {
  return reinterpret_cast<Vec>(
      _mm512_dpbf16_ps(Floats(acc), reinterpret_cast<__m512bh>(w), reinterpret_cast<__m512bh>(x)));
}

#else

TW_INLINE bfloat16x8_t Halves(Vec v) { return reinterpret_cast<bfloat16x8_t>(v); }

TW_INLINE Vec Broadcast(float word) { return reinterpret_cast<Vec>(vdupq_n_f32(word)); }
TW_INLINE Vec LoadSome(const float* p, int64_t count) {
  return count > 0 ? LoadFirst(p, count < kLanes ? static_cast<int>(count) : kLanes) : Vec{};
}
TW_INLINE void StoreSome(float* p, Vec v, int64_t count) {
  StoreFirst(p, v, static_cast<int>(count));
}
TW_INLINE Vec RoundPairs(Vec first, Vec second) {
  const bfloat16x8_t half = vcvtq_low_bf16_f32(reinterpret_cast<float32x4_t>(first));
  return reinterpret_cast<Vec>(vcvtq_high_bf16_f32(half, reinterpret_cast<float32x4_t>(second)));
}
TW_INLINE Vec RoundRows(Vec low, Vec high) {
  const uint16x8_t lows = reinterpret_cast<uint16x8_t>(RoundPairs(low, low));
  const uint16x8_t highs = reinterpret_cast<uint16x8_t>(RoundPairs(high, high));
  return reinterpret_cast<Vec>(vzip1q_u16(lows, highs));
}
TW_INLINE Vec AddProducts(Vec acc, Vec w, Vec x) {
  return reinterpret_cast<Vec>(
      vbfdotq_f32(reinterpret_cast<float32x4_t>(acc), Halves(w), Halves(x)));
}
TW_INLINE Vec JoinLow(Vec a, Vec b) {
  return reinterpret_cast<Vec>(
      vzip1q_f64(reinterpret_cast<float64x2_t>(a), reinterpret_cast<float64x2_t>(b)));
}
TW_INLINE Vec JoinHigh(Vec a, Vec b) {
  return reinterpret_cast<Vec>(
      vzip2q_f64(reinterpret_cast<float64x2_t>(a), reinterpret_cast<float64x2_t>(b)));
}
TW_INLINE Vec LoadHalves(const float* a, const float* b) {
  return reinterpret_cast<Vec>(vcombine_f32(vld1_f32(a), vld1_f32(b)));
}
// (gcc 12 moves the sums of vbfmmlaq_f32 from register to register.)
TW_INLINE Vec AddBlocks(Vec acc, Vec x, Vec w) {
  asm volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(x), "w"(w));
  return acc;
}

#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_BFLOAT16_WORDS_H_
