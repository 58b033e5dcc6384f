// Requantization with vectors: products with factors in fixed point or doubles, and results of up
// to four vectors of ints packed to bytes. For *_isa.cc files.
#ifndef TOPWORK_KERNELS_CPU_SIMD_QUANT_H_
#define TOPWORK_KERNELS_CPU_SIMD_QUANT_H_

#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {

// The high halves of 2 * x * m, rounded to nearest, ties upward; not both factors −2^31.
TW_INLINE IVec RoundedHighProduct(IVec x, IVec m) {
#if defined(__AVX512F__)
  const __m512i xi = reinterpret_cast<__m512i>(x), mi = reinterpret_cast<__m512i>(m);
  const __m512i half = _mm512_set1_epi64(int64_t{1} << 30);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(xi, mi), half);
  const __m512i odd = _mm512_add_epi64(
      _mm512_mul_epi32(_mm512_srli_epi64(xi, 32), _mm512_srli_epi64(mi, 32)), half);
  return reinterpret_cast<IVec>(
      _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1)));
#elif defined(__AVX2__)
  const __m256i xi = reinterpret_cast<__m256i>(x), mi = reinterpret_cast<__m256i>(m);
  const __m256i half = _mm256_set1_epi64x(int64_t{1} << 30);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(xi, mi), half);
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(xi, 32), _mm256_srli_epi64(mi, 32)), half);
  return reinterpret_cast<IVec>(
      _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xAA));
#elif defined(__ARM_NEON)
  return reinterpret_cast<IVec>(
      vqrdmulhq_s32(reinterpret_cast<int32x4_t>(x), reinterpret_cast<int32x4_t>(m)));
#else
  IVec high;
  for (int i = 0; i < kLanes; ++i) {
    const int64_t product = static_cast<int64_t>(x[i]) * m[i] + (int64_t{1} << 30);
    high[i] = static_cast<int32_t>(static_cast<uint64_t>(product) >> 31);
  }
  return high;
#endif
}

// A vector of factors in fixed point (ColumnFactors), ready for use.
struct VectorFactors {
  IVec mantissa, left, right, mask;
  bool shifts_left;
};
TW_INLINE VectorFactors LoadFactors(const int32_t* mantissa, const int32_t* left,
                                    const int32_t* right) {
  VectorFactors f;
  f.mantissa = LoadInts(mantissa);
  f.right = LoadInts(right);
  f.mask = ~(Broadcast(-1) << f.right);
  f.shifts_left = left != nullptr;
  f.left = f.shifts_left ? LoadInts(left) : IVec{};
  return f;
}
// One factor for all lanes: mantissa / 2^31 * 2^shift.
TW_INLINE VectorFactors SpreadFactor(int32_t mantissa, int32_t shift) {
  VectorFactors f;
  f.mantissa = Broadcast(mantissa);
  f.shifts_left = shift > 0;
  f.left = Broadcast(shift > 0 ? (shift < 31 ? shift : 31) : 0);
  f.right = Broadcast(shift > 0 ? 0 : -shift);
  f.mask = ~(Broadcast(-1) << f.right);
  return f;
}
TW_INLINE IVec ApplyFactors(const VectorFactors& f, IVec x) {
  if (f.shifts_left) {
    x = ClampInts(x, Broadcast(INT32_MIN) >> f.left, Broadcast(INT32_MAX) >> f.left) << f.left;
  }
  const IVec high = RoundedHighProduct(x, f.mantissa);
  const IVec threshold = (f.mask >> 1) - (high >> 31);  // ties away from zero
  return (high >> f.right) - ((high & f.mask) > threshold);
}

// x * factor under the promise of ColumnFactors::small. Rounding half away from zero and then
// shifting means: add half, less 1 for negative values, and shift. The two roundings of
// ApplyFactors always agree with that where right is at least 1, because the first result has the
// sign of x or is 0 (which ends as 0 either way).
struct SmallFactors {
#if defined(__AVX2__)
  IVec twice;      // twice the mantissa, less 2^32
  IVec even, odd;  // as 64-bit integers: half * 2^32 + 2^31 of the even and the odd lanes
#elif defined(__ARM_NEON)
  IVec mantissa;
#else
  IVec mantissa, half;
#endif
  IVec right;  // less than 0 for NEON, which shifts to the left alone
};
TW_INLINE SmallFactors MakeSmallFactors(IVec mantissa, IVec right) {
  SmallFactors f;
#if defined(__ARM_NEON)
  f.mantissa = mantissa;
  f.right = -right;
#else
  f.right = right;
  const IVec half = (Broadcast(1) << right) >> 1;
#if defined(__AVX2__)
  f.twice = mantissa << 1;
#if defined(__AVX512F__)
  const __m512i first = _mm512_set1_epi64(int64_t{1} << 31);
  const __m512i second = reinterpret_cast<__m512i>(half);
  f.even = reinterpret_cast<IVec>(_mm512_or_si512(_mm512_slli_epi64(second, 32), first));
  f.odd = reinterpret_cast<IVec>(_mm512_mask_blend_epi32(0x5555, second, first));
#else
  const __m256i first = _mm256_set1_epi64x(int64_t{1} << 31);
  const __m256i second = reinterpret_cast<__m256i>(half);
  f.even = reinterpret_cast<IVec>(_mm256_or_si256(_mm256_slli_epi64(second, 32), first));
  f.odd = reinterpret_cast<IVec>(_mm256_blend_epi32(second, first, 0x55));
#endif
#else
  f.mantissa = mantissa;
  f.half = half;
#endif
#endif
  return f;
}
// The same factor in every lane.
TW_INLINE SmallFactors SpreadSmallFactor(int32_t mantissa, int32_t right) {
  return MakeSmallFactors(Broadcast(mantissa), Broadcast(right));
}
TW_INLINE IVec ApplySmallFactors(const SmallFactors& f, IVec x) {
  // RoundedHighProduct is the high half of x * (2 * mantissa) + 2^31; as the factor lacks 2^32, the
  // high half lacks x.
#if defined(__AVX512F__)
  const __m512i xi = reinterpret_cast<__m512i>(x), m = reinterpret_cast<__m512i>(f.twice);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(xi, m), reinterpret_cast<__m512i>(f.even));
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(xi, 32), _mm512_srli_epi64(m, 32)),
                       reinterpret_cast<__m512i>(f.odd));
  const IVec high = reinterpret_cast<IVec>(
      _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xF5)));
  return (high + (x + (x >> 31))) >> f.right;
#elif defined(__AVX2__)
  const __m256i xi = reinterpret_cast<__m256i>(x), m = reinterpret_cast<__m256i>(f.twice);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(xi, m), reinterpret_cast<__m256i>(f.even));
  const __m256i odd =
      _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(xi, 32), _mm256_srli_epi64(m, 32)),
                       reinterpret_cast<__m256i>(f.odd));
  const IVec high =
      reinterpret_cast<IVec>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
  return (high + (x + (x >> 31))) >> f.right;
#elif defined(__ARM_NEON)  // its shift adds the half
  const int32x4_t high = reinterpret_cast<int32x4_t>(RoundedHighProduct(x, f.mantissa));
  const int32x4_t less = vsraq_n_s32(high, reinterpret_cast<int32x4_t>(x), 31);
  return reinterpret_cast<IVec>(vrshlq_s32(less, reinterpret_cast<int32x4_t>(f.right)));
#else
  return (RoundedHighProduct(x, f.mantissa) + f.half + (x >> 31)) >> f.right;
#endif
}

// The larger magnitude of `most`, which is not negative, and x.
TW_INLINE Vec LargerMagnitude(Vec most, Vec x) {
#if defined(__AVX512F__)
  return _mm512_range_ps(most, x, 0xB);
#else
  const Vec magnitude = reinterpret_cast<Vec>(reinterpret_cast<IVec>(x) & INT32_MAX);
  return magnitude > most ? magnitude : most;
#endif
}
// The larger of `most` and what rounding v to the nearest integer takes away or adds; |v| < 2^22.
TW_INLINE Vec LargerRest(Vec most, Vec v) {
#if defined(__aarch64__)
  const float32x4_t x = reinterpret_cast<float32x4_t>(v);
  return reinterpret_cast<Vec>(
      vmaxq_f32(reinterpret_cast<float32x4_t>(most), vabdq_f32(x, vrndnq_f32(x))));
#else
  return LargerMagnitude(most, v - ((v + kRounder) - kRounder));
#endif
}
TW_INLINE bool IsAnyAbove(Vec v, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(v, _mm512_set1_ps(limit), _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_set1_ps(limit), _CMP_GT_OQ)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_ps(_mm_cmpgt_ps(v, _mm_set1_ps(limit))) != 0;
#elif defined(__aarch64__)
  return vmaxnmvq_f32(reinterpret_cast<float32x4_t>(v)) > limit;
#else
  return SumLanes(v > limit) != 0;
#endif
}

#if defined(__SSE2__) && !defined(__AVX2__)
// The same in single precision, for SSE2, which has no products of signed ints: x * factor and half
// a unit of the first rounding, outwards, are rounded to the nearest integer, which may be wrong
// near ties only.
struct ScaleFactors {
  Vec scale, nudge;
  IVec mantissa, right;
};
TW_INLINE ScaleFactors MakeScaleFactors(IVec mantissa, IVec right) {
  const auto power_of_two = [](IVec exponent) {
    return reinterpret_cast<Vec>((exponent + 127) << 23);
  };
  return {ToFloat(mantissa) * power_of_two(-31 - right), power_of_two(-1 - right), mantissa, right};
}
__attribute__((noinline, cold, unused)) static IVec ScaleExactly(IVec x, IVec mantissa,
                                                                 IVec right) {
  return ApplySmallFactors(MakeSmallFactors(mantissa, right), x);
}
TW_INLINE IVec Scale(const ScaleFactors& f, IVec x) {
  // Results within ±256 err by less than 2^-13: the factor, x, their product and the sum by 2^-24
  // each. Larger ones saturate all types.
  constexpr float kLargestRest = 0.5f - 1.0f / 8192.0f;
  const Vec nudge = reinterpret_cast<Vec>((x & INT32_MIN) | reinterpret_cast<IVec>(f.nudge));
  const Vec y = ToFloat(x) * f.scale + nudge;
  const IVec rounded = reinterpret_cast<IVec>(_mm_cvtps_epi32(y));
  if (__builtin_expect(IsAnyAbove(LargerMagnitude(Vec{}, y - ToFloat(rounded)), kLargestRest), 0)) {
    return ScaleExactly(x, f.mantissa, f.right);
  }
  return rounded;
}
#else
using ScaleFactors = SmallFactors;
TW_INLINE ScaleFactors MakeScaleFactors(IVec mantissa, IVec right) {
  return MakeSmallFactors(mantissa, right);
}
TW_INLINE IVec Scale(const ScaleFactors& f, IVec x) { return ApplySmallFactors(f, x); }
#endif

// x * factors within ±65536, rounded to nearest, ties away from zero.
TW_INLINE IVec ScaleByReals(IVec x, const double* factors) {
#if defined(__AVX512F__)
  const __m512d most = _mm512_set1_pd(65536.0), half = _mm512_set1_pd(0.5);
  const __m512d sign = _mm512_set1_pd(-0.0);
  const auto scale = [&](__m256i ints, const double* f) {
    __m512d v = _mm512_mul_pd(_mm512_cvtepi32_pd(ints), _mm512_loadu_pd(f));
    v = _mm512_min_pd(_mm512_max_pd(v, _mm512_xor_pd(most, sign)), most);
    return _mm512_cvttpd_epi32(_mm512_add_pd(v, _mm512_or_pd(_mm512_and_pd(v, sign), half)));
  };
  const __m512i ints = reinterpret_cast<__m512i>(x);
  const __m256i low = scale(_mm512_castsi512_si256(ints), factors);
  const __m256i high = scale(_mm512_extracti64x4_epi64(ints, 1), factors + 8);
  return reinterpret_cast<IVec>(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
#elif defined(__AVX2__)
  const __m256d most = _mm256_set1_pd(65536.0), half = _mm256_set1_pd(0.5);
  const __m256d sign = _mm256_set1_pd(-0.0);
  const auto scale = [&](__m128i ints, const double* f) {
    __m256d v = _mm256_mul_pd(_mm256_cvtepi32_pd(ints), _mm256_loadu_pd(f));
    v = _mm256_min_pd(_mm256_max_pd(v, _mm256_xor_pd(most, sign)), most);
    return _mm256_cvttpd_epi32(_mm256_add_pd(v, _mm256_or_pd(_mm256_and_pd(v, sign), half)));
  };
  const __m256i ints = reinterpret_cast<__m256i>(x);
  const __m128i low = scale(_mm256_castsi256_si128(ints), factors);
  const __m128i high = scale(_mm256_extracti128_si256(ints, 1), factors + 4);
  return reinterpret_cast<IVec>(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
#else
  int32_t from[kLanes], to[kLanes];
  StoreInts(from, x);
  for (int i = 0; i < kLanes; ++i) {
    const double value = static_cast<double>(from[i]) * factors[i];
    const double bounded = value < -65536.0 ? -65536.0 : (value > 65536.0 ? 65536.0 : value);
    to[i] = static_cast<int32_t>(bounded + __builtin_copysign(0.5, bounded));
  }
  return LoadInts(to);
#endif
}

// The bytes of up to four vectors of ints: those of vector j begin at j * kLanes.
typedef int8_t ByteVec __attribute__((vector_size(kVectorBytes)));

// The range of results in bytes, and their zero point. An unsigned type's are signed bytes that are
// 128 less until their sign is flipped last.
struct ByteRange {
  IVec zero_point;  // halves
  ByteVec lo, hi, flip;
  IVec rounder;  // kRounderBits less the zero point
};
// Whether that is all signed bytes.
TW_INLINE bool IsWhole(int32_t lo, int32_t hi) { return lo == INT8_MIN && hi == INT8_MAX; }
// From `lo` to `hi`, which are those of int8 or uint8.
TW_INLINE ByteRange MakeByteRange(int32_t zero_point, int32_t lo, int32_t hi) {
  typedef int16_t HalfVec __attribute__((vector_size(kVectorBytes)));
  const int32_t shift = hi > 127 ? 128 : 0;
  const int8_t flip = hi > 127 ? INT8_MIN : 0;
  ByteRange r;
  r.zero_point = reinterpret_cast<IVec>(HalfVec{} + static_cast<int16_t>(zero_point - shift));
  r.lo = ByteVec{} + static_cast<int8_t>(lo - shift);
  r.hi = ByteVec{} + static_cast<int8_t>(hi - shift);
  r.flip = ByteVec{} + flip;
  r.rounder = Broadcast(kRounderBits - (zero_point - shift));
  return r;
}

#if defined(__ARM_NEON)
// `first` and then the values of v, saturated to half their width.
TW_INLINE int16x8_t Behind(int16x4_t first, int32x4_t v) {
#if defined(__aarch64__)
  return vqmovn_high_s32(first, v);
#else
  return vcombine_s16(first, vqmovn_s32(v));
#endif
}
TW_INLINE int8x16_t Behind(int8x8_t first, int16x8_t v) {
#if defined(__aarch64__)
  return vqmovn_high_s16(first, v);
#else
  return vcombine_s8(first, vqmovn_s16(v));
#endif
}
#endif

#if defined(__AVX2__)
TW_INLINE IVec PackHalves(IVec a, IVec b) {
#if defined(__AVX512F__)
  return reinterpret_cast<IVec>(
      _mm512_packs_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return reinterpret_cast<IVec>(
      _mm256_packs_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}
TW_INLINE IVec AddHalves(IVec a, IVec b) {
#if defined(__AVX512F__)
  return reinterpret_cast<IVec>(
      _mm512_adds_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return reinterpret_cast<IVec>(
      _mm256_adds_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}
// The halves of PackHalves as bytes in the order of the vectors.
TW_INLINE ByteVec PackBytes(IVec low, IVec high) {
#if defined(__AVX512F__)
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return reinterpret_cast<ByteVec>(_mm512_permutexvar_epi32(
      order, _mm512_packs_epi16(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high))));
#else
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return reinterpret_cast<ByteVec>(_mm256_permutevar8x32_epi32(
      _mm256_packs_epi16(reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(high)), order));
#endif
}
TW_INLINE ByteVec ClampBytes(const ByteRange& r, ByteVec bytes) {
  bytes = bytes > r.hi ? r.hi : bytes;
  return (bytes < r.lo ? r.lo : bytes) ^ r.flip;
}
#endif

// Whether PackInts is shorter where the range is all signed bytes. (Builds for the least size do without.)
#if defined(__ARM_NEON) && !defined(__OPTIMIZE_SIZE__)
constexpr bool kPacksWhole = true;
#else
constexpr bool kPacksWhole = false;
#endif

// kN vectors of results without their zero point as bytes, saturated and clamped; what lies after
// them is unspecified. kIsWhole: the range IsWhole.
template <bool kIsWhole = false, int kN>
TW_INLINE ByteVec PackInts(const ByteRange& r, const IVec (&v)[kN]) {
  const IVec v1 = v[kN > 1 ? 1 : 0], v2 = v[kN > 2 ? 2 : 0], v3 = v[kN > 3 ? 3 : 0];
#if defined(__AVX2__)
  const IVec low = AddHalves(PackHalves(v[0], v1), r.zero_point);
  const ByteVec all = PackBytes(low, kN > 2 ? AddHalves(PackHalves(v2, v3), r.zero_point) : low);
  return kIsWhole ? all : ClampBytes(r, all);
#elif defined(__ARM_NEON)
  const auto halves = [&](IVec a, IVec b) {
    const int16x4_t first = vqmovn_s32(reinterpret_cast<int32x4_t>(a));
    return vqaddq_s16(Behind(first, reinterpret_cast<int32x4_t>(b)),
                      reinterpret_cast<int16x8_t>(r.zero_point));
  };
  const int8x16_t all = Behind(vqmovn_s16(halves(v[0], v1)), halves(v2, v3));
  if (kIsWhole) return reinterpret_cast<ByteVec>(all);
  const int8x16_t most = vminq_s8(all, reinterpret_cast<int8x16_t>(r.hi));
  return reinterpret_cast<ByteVec>(vmaxq_s8(most, reinterpret_cast<int8x16_t>(r.lo))) ^ r.flip;
#else
#if defined(__SSE2__) && !defined(__AVX2__)
  const auto halves = [&](IVec a, IVec b) {
    return _mm_adds_epi16(
        _mm_packs_epi32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)),
        reinterpret_cast<__m128i>(r.zero_point));
  };
  ByteVec bytes = reinterpret_cast<ByteVec>(_mm_packs_epi16(halves(v[0], v1), halves(v2, v3)));
#else
  const auto saturated = [](int32_t x, int32_t lo, int32_t hi) {
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
  };
  const int32_t zero_point = static_cast<int16_t>(r.zero_point[0]);  // of the lower half
  const IVec all[4] = {v[0], v1, v2, v3};
  ByteVec bytes;
  for (int i = 0; i < kVectorBytes; ++i) {
    const int32_t half = saturated(all[i / kLanes][i % kLanes], INT16_MIN, INT16_MAX);
    bytes[i] = static_cast<int8_t>(saturated(half + zero_point, INT8_MIN, INT8_MAX));
  }
#endif
  bytes = bytes > r.hi ? r.hi : bytes;
  return (bytes < r.lo ? r.lo : bytes) ^ r.flip;
#endif
}

#if defined(__AVX512F__)
TW_INLINE __m128i PartOf(ByteVec v, int j) {
  const __m512i all = reinterpret_cast<__m512i>(v);
  return j == 0   ? _mm512_castsi512_si128(all)
         : j == 1 ? _mm512_extracti32x4_epi32(all, 1)
         : j == 2 ? _mm512_extracti32x4_epi32(all, 2)
                  : _mm512_extracti32x4_epi32(all, 3);
}
#endif

// Part j of kLanes bytes.
TW_INLINE void StorePart(uint8_t* p, ByteVec v, int j) {
#if defined(__AVX512F__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), PartOf(v, j));
#else
  typedef int64_t Longs __attribute__((vector_size(kVectorBytes)));
  typedef int64_t Long __attribute__((aligned(1), may_alias));
  if (kLanes == 8) {
    *reinterpret_cast<Long*>(p) = reinterpret_cast<Longs>(v)[j % (kVectorBytes / 8)];
  } else {
    *reinterpret_cast<IntAnywhere*>(p) = reinterpret_cast<IVec>(v)[j];
  }
#endif
}

// The first `count` ≤ kN * kLanes bytes of the kN parts from part j on; j is a multiple of kN.
template <int kN>
TW_INLINE void StoreParts(uint8_t* p, ByteVec v, int j, int count) {
#if defined(__AVX512F__)
  const __m512i all = reinterpret_cast<__m512i>(v);
  if (kN == 1) {
    if (count == kLanes) {
      StorePart(p, v, j);
      return;
    }
    _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1u << count) - 1), PartOf(v, j));
    return;
  }
  const __m256i half = j < 2 ? _mm512_castsi512_si256(all) : _mm512_extracti64x4_epi64(all, 1);
  if (kN == 2) {
    if (count == 2 * kLanes) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), half);
    } else {
      _mm256_mask_storeu_epi8(p, static_cast<__mmask32>((1u << count) - 1), half);
    }
    return;
  }
  if (count < kN * kLanes) {
    _mm512_mask_storeu_epi8(p, (uint64_t{1} << count) - 1, all);
    return;
  }
  if (kN == 4) {
    _mm512_storeu_si512(p, all);
    return;
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), half);
  StorePart(p + 2 * kLanes, v, 2);
#else
  if (count == kN * kLanes) {
    if (kN == 4) {
      StoreInts(p, reinterpret_cast<IVec>(v));
      return;
    }
#if defined(__aarch64__)
    if (kN == 2) {
      typedef int64_t Longs __attribute__((vector_size(kVectorBytes)));
      typedef int64_t Long __attribute__((aligned(1), may_alias));
      *reinterpret_cast<Long*>(p) = reinterpret_cast<Longs>(v)[j / 2];
      return;
    }
#endif
#pragma GCC unroll 4
    for (int i = 0; i < kN; ++i) StorePart(p + i * kLanes, v, j + i);
    return;
  }
  uint8_t bytes[kVectorBytes];
  __builtin_memcpy(bytes, &v, sizeof(bytes));
  CopyFewBytes<kN * kLanes>(p, bytes + j * kLanes, count);
#endif
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_SIMD_QUANT_H_
