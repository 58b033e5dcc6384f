// SingleFactors (integer.h) with vectors: sums to bytes by one product in single precision. For
// *_isa.cc files; empty where TW_HAVE_SINGLE_FACTORS is not defined.
#ifndef TOPWORK_KERNELS_CPU_SIMD_SINGLE_H_
#define TOPWORK_KERNELS_CPU_SIMD_SINGLE_H_

#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_quant.h"

// Builds for the least size do without.
#if defined(__AVX2__) && !defined(__OPTIMIZE_SIZE__)
#define TW_HAVE_SINGLE_FACTORS

namespace topwork {
namespace TW_ISA {

TW_INLINE Vec MultiplyAdd(Vec x, Vec y, Vec z) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(x, y, z);
#else
  return _mm256_fmadd_ps(x, y, z);
#endif
}
// A vector of SingleFactors whose results are not negative.
struct VectorSingles {
  Vec scale, addend;
  VectorSingles() = default;
  __attribute__((always_inline)) VectorSingles(const SingleFactors& f, int64_t n)
      : scale(Load(f.scale + n)), addend(Load(f.addend + n)) {}
};
// Any.
struct MirroredSingles {
  Vec scale, addend, mirrored_addend;
  IVec shift, twice;  // the shift
  MirroredSingles() = default;
  __attribute__((always_inline)) MirroredSingles(const SingleFactors& f, int64_t n)
      : scale(Load(f.scale + n)),
        addend(Load(f.addend + n)),
        mirrored_addend(2.0f * kRounder - addend),
        shift(LoadInts(f.shift + n)),
        twice(shift + shift) {}
};
// Results of sums with their bias, plus kRounderBits.
TW_INLINE IVec Scale(const VectorSingles& f, IVec x) {
  return reinterpret_cast<IVec>(MultiplyAdd(ToFloat(x), f.scale, f.addend));
}
TW_INLINE IVec Scale(const MirroredSingles& f, IVec x) {
#if defined(__AVX512F__)
  const __m512i xi = reinterpret_cast<__m512i>(x);
  const __mmask16 below = _mm512_cmplt_epi32_mask(xi, reinterpret_cast<__m512i>(f.shift));
  x = reinterpret_cast<IVec>(
      _mm512_mask_sub_epi32(xi, below, xi, reinterpret_cast<__m512i>(f.twice)));
  const Vec addend = _mm512_mask_blend_ps(below, f.addend, f.mirrored_addend);
#else
  const IVec below = x < f.shift;
  x -= below & f.twice;
  const Vec addend = below ? f.mirrored_addend : f.addend;
#endif
  return reinterpret_cast<IVec>(MultiplyAdd(ToFloat(x), f.scale, addend));
}
// The same as PackInts for them.
template <bool kIsWhole, int kN>
TW_INLINE ByteVec PackSingles(const ByteRange& r, const IVec (&v)[kN]) {
  IVec x[4] = {};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[i] = v[i < kN ? i : 0] - r.rounder;
  const IVec low = PackHalves(x[0], x[1]);
  const ByteVec bytes = PackBytes(low, kN > 2 ? PackHalves(x[2], x[3]) : low);
  return kIsWhole ? bytes : ClampBytes(r, bytes);
}
// Whether all of n columns have them, a multiple of kLanes. (No other scale is as small as that.)
TW_INLINE bool HaveSingles(const SingleFactors& f, int64_t first, int64_t n) {
  if (f.scale == nullptr) return false;
  Vec least = Load(f.scale + first);
  for (int64_t i = kLanes; i < n; i += kLanes) {
    const Vec scale = Load(f.scale + first + i);
    least = scale < least ? scale : least;
  }
  return !IsAnyAbove(-least, -1e-37f);
}

}  // namespace TW_ISA
}  // namespace topwork

#endif

#endif  // TOPWORK_KERNELS_CPU_SIMD_SINGLE_H_
