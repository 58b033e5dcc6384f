// Vectors of the instruction set a *_isa.cc file is compiled for; included by those files only.
//
// Built on the vector extension that gcc and clang share, so one source serves SSE2, AVX2, AVX-512
// and NEON. Everything is inside the instruction set's own namespace and always inlined: no symbol
// of one instruction set can be linked into another.
#ifndef TOPWORK_KERNELS_CPU_SIMD_H_
#define TOPWORK_KERNELS_CPU_SIMD_H_

#include <cstdint>

#include "kernels/contract/kept_range.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifndef TW_ISA
#error "simd.h is for files compiled once per instruction set (KERNELS_ISA_SOURCES)"
#endif

#define TW_INLINE static inline __attribute__((always_inline))

namespace topwork {
namespace TW_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int kLanes = kVectorBytes / 4;

typedef float Vec __attribute__((vector_size(kVectorBytes)));

// The same at any address. (Loads through memcpy end up in integer registers on some targets.)
typedef float VecAnywhere __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));

TW_INLINE Vec Load(const float* p) { return *reinterpret_cast<const VecAnywhere*>(p); }
TW_INLINE void Store(float* p, Vec v) { *reinterpret_cast<VecAnywhere*>(p) = v; }

// Copies `count` < kLanes floats in power-of-two pieces (a call to memcpy costs more).
TW_INLINE void CopyFew(float* to, const float* from, int count) {
  if (kLanes > 8 && (count & 8) != 0) {
    __builtin_memcpy(to, from, 32);
    to += 8;
    from += 8;
  }
  if (kLanes > 4 && (count & 4) != 0) {
    __builtin_memcpy(to, from, 16);
    to += 4;
    from += 4;
  }
  if ((count & 2) != 0) {
    __builtin_memcpy(to, from, 8);
    to += 2;
    from += 2;
  }
  if ((count & 1) != 0) *to = *from;
}

// The first `count` ≤ kLanes lanes; the others are zero on loading and kept on storing.
TW_INLINE Vec LoadFirst(const float* p, int count) {
  if (count >= kLanes) return Load(p);
  float lanes[kLanes] = {};
  CopyFew(lanes, p, count);
  return Load(lanes);
}
TW_INLINE void StoreFirst(float* p, Vec v, int count) {
  if (count >= kLanes) {
    Store(p, v);
    return;
  }
  float lanes[kLanes];
  Store(lanes, v);
  CopyFew(p, lanes, count);
}

// For least and greatest values; a NaN `v` is passed over. (Of a choice gcc makes four instructions where
// there is no blend, and two on aarch64.)
#if defined(__SSE2__) && !defined(__AVX__)
TW_INLINE Vec Lesser(Vec v, Vec least) { return (Vec)_mm_min_ps((__m128)v, (__m128)least); }
TW_INLINE Vec Greater(Vec v, Vec most) { return (Vec)_mm_max_ps((__m128)v, (__m128)most); }
#elif defined(__aarch64__)
TW_INLINE Vec Lesser(Vec v, Vec least) {
  return (Vec)vminnmq_f32((float32x4_t)v, (float32x4_t)least);
}
TW_INLINE Vec Greater(Vec v, Vec most) {
  return (Vec)vmaxnmq_f32((float32x4_t)v, (float32x4_t)most);
}
#else
TW_INLINE Vec Lesser(Vec v, Vec least) { return v < least ? v : least; }
TW_INLINE Vec Greater(Vec v, Vec most) { return v > most ? v : most; }
#endif
// Takes results into a thread's range. Lanes without a result are 0.
TW_INLINE void WidenRange(KeptRange::Lanes* range, Vec least, Vec most) {
  static_assert(kLanes <= kRangeLanes, "a range has a lane for each of a vector");
  Store(range->least, Lesser(least, Load(range->least)));
  Store(range->most, Greater(most, Load(range->most)));
}

// Clamps to [lo, hi] as max then min; a NaN stays a NaN. (Which zero of two has its sign is the
// processor's choice.)
TW_INLINE Vec Clamp(Vec v, Vec lo, Vec hi) {
#if defined(__ARM_NEON)
  const float32x4_t least =
      vmaxq_f32(reinterpret_cast<float32x4_t>(v), reinterpret_cast<float32x4_t>(lo));
  return reinterpret_cast<Vec>(vminq_f32(least, reinterpret_cast<float32x4_t>(hi)));
#elif defined(__AVX512F__)
  return (Vec)_mm512_min_ps((__m512)hi, _mm512_max_ps((__m512)lo, (__m512)v));
#elif defined(__AVX__)
  return (Vec)_mm256_min_ps((__m256)hi, _mm256_max_ps((__m256)lo, (__m256)v));
#elif defined(__SSE2__)
  return (Vec)_mm_min_ps((__m128)hi, _mm_max_ps((__m128)lo, (__m128)v));
#else
  v = lo > v ? lo : v;
  return hi < v ? hi : v;
#endif
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_SIMD_H_
