// Integer vectors of the instruction set a *_isa.cc file is compiled for; included by those only.
//
// DotBytes and DotInt16 add products of neighbouring values to 32-bit lanes: four 8-bit values of
// A and W a lane (only where the processor has such an instruction: TW_HAVE_DOT_BYTES), or two
// 16-bit ones. x86 multiplies unsigned by signed bytes and NEON signed by signed, so kFlipInt8 and
// kFlipUInt8 say what to XOR to a byte of A of either type to make it the processor's own.
#ifndef TOPWORK_KERNELS_CPU_SIMD_INT_H_
#define TOPWORK_KERNELS_CPU_SIMD_INT_H_

#include <cstddef>

#include "kernels/cpu/simd.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace topwork {
namespace TW_ISA {

typedef int32_t IVec __attribute__((vector_size(kVectorBytes)));
typedef int32_t IVecAnywhere __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
typedef int8_t NarrowInt8 __attribute__((vector_size(kLanes)));
typedef uint8_t NarrowUInt8 __attribute__((vector_size(kLanes)));
typedef int8_t NarrowInt8Anywhere __attribute__((vector_size(kLanes), aligned(1), may_alias));
typedef uint8_t NarrowUInt8Anywhere __attribute__((vector_size(kLanes), aligned(1), may_alias));
typedef int16_t NarrowInt16Anywhere __attribute__((vector_size(2 * kLanes), aligned(1), may_alias));

TW_INLINE IVec LoadInts(const void* p) { return *static_cast<const IVecAnywhere*>(p); }
TW_INLINE void StoreInts(void* p, IVec v) { *static_cast<IVecAnywhere*>(p) = v; }
TW_INLINE IVec Broadcast(int32_t value) { return IVec{} + value; }

// For 32-bit ARM clang lets a load of one lane stop at addresses that its pointer's type forbids.
typedef int32_t IntAnywhere __attribute__((aligned(1), may_alias));

// Four bytes of memory in every lane.
TW_INLINE IVec BroadcastWord(const uint8_t* p) {
#if defined(__ARM_NEON) && !defined(__aarch64__)
  return reinterpret_cast<IVec>(vld1q_dup_s32(reinterpret_cast<const IntAnywhere*>(p)));
#else
  return Broadcast(*reinterpret_cast<const IntAnywhere*>(p));
#endif
}

// kLanes bytes or 16-bit values, widened. (Intrinsics: gcc 12 takes __builtin_convertvector between
// such sizes apart into scalars.)
#if defined(__AVX512F__)
TW_INLINE IVec WidenInt8(const void* p) {
  return reinterpret_cast<IVec>(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}
TW_INLINE IVec WidenUInt8(const void* p) {
  return reinterpret_cast<IVec>(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}
TW_INLINE IVec WidenInt16(const void* p) {
  return reinterpret_cast<IVec>(
      _mm512_cvtepi16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))));
}
TW_INLINE NarrowInt8 NarrowToBytes(IVec v) {
  return reinterpret_cast<NarrowInt8>(_mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(v)));
}
#elif defined(__AVX2__)
TW_INLINE IVec WidenInt8(const void* p) {
  return reinterpret_cast<IVec>(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
}
TW_INLINE IVec WidenUInt8(const void* p) {
  return reinterpret_cast<IVec>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
}
TW_INLINE IVec WidenInt16(const void* p) {
  return reinterpret_cast<IVec>(
      _mm256_cvtepi16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}
TW_INLINE NarrowInt8 NarrowToBytes(IVec v) {
  const __m256i low = _mm256_and_si256(reinterpret_cast<__m256i>(v), _mm256_set1_epi32(255));
  const __m128i halves =
      _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  const int64_t bytes = _mm_cvtsi128_si64(_mm_packus_epi16(halves, halves));
  NarrowInt8 narrow;
  __builtin_memcpy(&narrow, &bytes, sizeof(narrow));
  return narrow;
}
#elif defined(__SSE2__)
TW_INLINE __m128i LoadFourBytes(const void* p) {
  int32_t bytes;
  __builtin_memcpy(&bytes, p, sizeof(bytes));
  return _mm_cvtsi32_si128(bytes);
}
TW_INLINE IVec WidenInt8(const void* p) {
  const __m128i bytes = LoadFourBytes(p);
  const __m128i halves = _mm_unpacklo_epi8(bytes, bytes);
  return reinterpret_cast<IVec>(_mm_srai_epi32(_mm_unpacklo_epi16(halves, halves), 24));
}
TW_INLINE IVec WidenUInt8(const void* p) {
  const __m128i zero = _mm_setzero_si128();
  return reinterpret_cast<IVec>(
      _mm_unpacklo_epi16(_mm_unpacklo_epi8(LoadFourBytes(p), zero), zero));
}
TW_INLINE IVec WidenInt16(const void* p) {
  const __m128i halves = _mm_loadl_epi64(static_cast<const __m128i*>(p));
  return reinterpret_cast<IVec>(_mm_srai_epi32(_mm_unpacklo_epi16(halves, halves), 16));
}
TW_INLINE NarrowInt8 NarrowToBytes(IVec v) {
  const __m128i low = _mm_and_si128(reinterpret_cast<__m128i>(v), _mm_set1_epi32(255));
  const __m128i halves = _mm_packs_epi32(low, low);
  const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(halves, halves));
  NarrowInt8 narrow;
  __builtin_memcpy(&narrow, &bytes, sizeof(narrow));
  return narrow;
}
#elif defined(__ARM_NEON)
TW_INLINE int8x8_t LoadFourBytes(const void* p) {
  return vreinterpret_s8_s32(vld1_dup_s32(static_cast<const IntAnywhere*>(p)));
}
// The same as 16-bit values.
TW_INLINE int16x4_t HalfWidenInt8(const void* p) {
  return vget_low_s16(vmovl_s8(LoadFourBytes(p)));
}
TW_INLINE int16x4_t HalfWidenUInt8(const void* p) {
  const uint16x8_t halves = vmovl_u8(vreinterpret_u8_s8(LoadFourBytes(p)));
  return vreinterpret_s16_u16(vget_low_u16(halves));
}
TW_INLINE IVec WidenInt8(const void* p) {
  return reinterpret_cast<IVec>(vmovl_s16(HalfWidenInt8(p)));
}
TW_INLINE IVec WidenUInt8(const void* p) {
  return reinterpret_cast<IVec>(vmovl_s16(HalfWidenUInt8(p)));
}
TW_INLINE IVec WidenInt16(const void* p) {
  return reinterpret_cast<IVec>(vmovl_s16(vld1_s16(static_cast<const int16_t*>(p))));
}
TW_INLINE NarrowInt8 NarrowToBytes(IVec v) {
  const int16x4_t halves = vmovn_s32(reinterpret_cast<int32x4_t>(v));
  const int8x8_t bytes = vmovn_s16(vcombine_s16(halves, halves));
  const int32_t four = vget_lane_s32(vreinterpret_s32_s8(bytes), 0);
  NarrowInt8 narrow;
  __builtin_memcpy(&narrow, &four, sizeof(narrow));
  return narrow;
}
#else
TW_INLINE IVec WidenInt8(const void* p) {
  return __builtin_convertvector(*static_cast<const NarrowInt8Anywhere*>(p), IVec);
}
TW_INLINE IVec WidenUInt8(const void* p) {
  return __builtin_convertvector(*static_cast<const NarrowUInt8Anywhere*>(p), IVec);
}
TW_INLINE IVec WidenInt16(const void* p) {
  return __builtin_convertvector(*static_cast<const NarrowInt16Anywhere*>(p), IVec);
}
TW_INLINE NarrowInt8 NarrowToBytes(IVec v) { return __builtin_convertvector(v, NarrowInt8); }
#endif

// kLanes float16 values, widened. Where TW_HAVE_HALVES, by an instruction, and there is one to narrow
// them; else as HalfToFloat of elementwise_isa.cc. (Builds for the least size do without: the tiles
// of float16 weights are as large as those of float32.)
#if (defined(__AVX512F__) || defined(__F16C__) || defined(__aarch64__)) && \
    !defined(__OPTIMIZE_SIZE__)
#define TW_HAVE_HALVES 1
constexpr bool kHasHalves = true;
#else
constexpr bool kHasHalves = false;
#endif
TW_INLINE Vec WidenHalves(const uint16_t* p) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#elif defined(__aarch64__)
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
#else
  const IVec h = WidenInt16(p);
  const IVec shifted = (h & 0x7fff) << 13;
  // Subnormal halves by themselves: NEON of 32-bit ARM takes a subnormal float for zero.
  const Vec tiny = __builtin_convertvector(h & 0x3ff, Vec) * 5.96046448e-8f;
  const Vec scaled = reinterpret_cast<Vec>(shifted) * 5.19229686e33f;
  const IVec bits = reinterpret_cast<IVec>(shifted < 0x00800000 ? tiny : scaled);
  return reinterpret_cast<Vec>(bits | ((shifted >= 0x0f800000) & 0x7f800000) |
                               (h & static_cast<int32_t>(0x80000000u)));
#endif
}

#if defined(TW_HAVE_HALVES)
TW_INLINE void NarrowToHalves(uint16_t* p, Vec v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
#else
  vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)));
#endif
}
#endif

TW_INLINE Vec ToFloat(IVec v) { return __builtin_convertvector(v, Vec); }

// 1.5 * 2^23: added to a number below 2^22, it rounds that to an integer, which appears in the low
// bits.
constexpr float kRounder = 12582912.0f;
constexpr int32_t kRounderBits = 0x4B400000;

// Rounds to the nearest integer, ties to even; |v| < 2^22.
TW_INLINE IVec RoundToInts(Vec v) {
#if defined(__aarch64__)
  return reinterpret_cast<IVec>(vcvtnq_s32_f32(reinterpret_cast<float32x4_t>(v)));
#else
  return reinterpret_cast<IVec>(v + kRounder) - kRounderBits;
#endif
}

TW_INLINE IVec ClampInts(IVec v, IVec lo, IVec hi) {
  v = v < lo ? lo : v;
  return v > hi ? hi : v;
}

// Copies `count` < kBytes ≤ 64 bytes in power-of-two pieces.
template <int kBytes>
TW_INLINE void CopyFewBytes(uint8_t* to, const uint8_t* from, int count) {
  static_assert(kBytes <= 64, "the first piece is half of it");
#pragma GCC unroll 6
  for (int piece = 32; piece > 0; piece /= 2) {
    if (piece >= kBytes || (count & piece) == 0) continue;
    __builtin_memcpy(to, from, static_cast<size_t>(piece));
    to += piece;
    from += piece;
  }
}

// The first `count` ≤ kLanes lanes as bytes (lanes must fit), whatever the sign.
TW_INLINE void StoreBytes(void* p, IVec v, int count) {
  const NarrowInt8 narrow = NarrowToBytes(v);
  if (count >= kLanes) {
    *static_cast<NarrowInt8Anywhere*>(p) = narrow;
    return;
  }
  uint8_t lanes[kLanes];
  __builtin_memcpy(lanes, &narrow, sizeof(lanes));
  CopyFewBytes<kLanes>(static_cast<uint8_t*>(p), lanes, count);
}

#if defined(__AVX512VNNI__)
#define TW_HAVE_DOT_BYTES 1
constexpr uint8_t kFlipInt8 = 0x80, kFlipUInt8 = 0;
TW_INLINE IVec DotBytes(IVec acc, IVec a, IVec w) {
  return reinterpret_cast<IVec>(_mm512_dpbusd_epi32(
      reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(w)));
}
TW_INLINE IVec DotInt16(IVec acc, IVec a, IVec w) {
  return reinterpret_cast<IVec>(_mm512_dpwssd_epi32(
      reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(w)));
}
#elif defined(__AVX2__)
constexpr uint8_t kFlipInt8 = 0x80, kFlipUInt8 = 0;
#if defined(__AVXVNNI__) || defined(TW_EVEX_VNNI)
#define TW_HAVE_DOT_BYTES 1
TW_INLINE IVec DotBytes(IVec acc, IVec a, IVec w) {
#if defined(TW_EVEX_VNNI)  // for tests: the instruction as processors with AVX-512 have it
  __asm__("vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(w));
  return acc;
#else
  return reinterpret_cast<IVec>(_mm256_dpbusd_avx_epi32(
      reinterpret_cast<__m256i>(acc), reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(w)));
#endif
}
#endif
TW_INLINE IVec DotInt16(IVec acc, IVec a, IVec w) {
  return acc + reinterpret_cast<IVec>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(w)));
}
#elif defined(__SSE2__)
constexpr uint8_t kFlipInt8 = 0x80, kFlipUInt8 = 0;
TW_INLINE IVec DotInt16(IVec acc, IVec a, IVec w) {
  return acc + reinterpret_cast<IVec>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(w)));
}
#else
constexpr uint8_t kFlipInt8 = 0, kFlipUInt8 = 0x80;
#if defined(__ARM_NEON)
// acc + lane kLane of a * w. (The halves of w are taken apart once for all rows of a tile.)
template <int kLane>
TW_INLINE IVec DotInt16ByLane(IVec acc, IVec a, IVec w) {
  const int32x4_t columns = reinterpret_cast<int32x4_t>(w);
  const int16x8_t all = reinterpret_cast<int16x8_t>(a);
  const int16x4_t half = kLane < 2 ? vget_low_s16(all) : vget_high_s16(all);
  const int32x4_t sum =
      vmlal_lane_s16(reinterpret_cast<int32x4_t>(acc), vmovn_s32(columns), half, kLane % 2 * 2);
  return reinterpret_cast<IVec>(
      vmlal_lane_s16(sum, vshrn_n_s32(columns, 16), half, kLane % 2 * 2 + 1));
}
// The lanes of a are the same.
TW_INLINE IVec DotInt16(IVec acc, IVec a, IVec w) { return DotInt16ByLane<0>(acc, a, w); }
#else
// Of both factors the low halves, then the high halves of the lanes; every product fits a lane.
TW_INLINE IVec DotInt16(IVec acc, IVec a, IVec w) {
  const IVec low = ((a << 16) >> 16) * ((w << 16) >> 16);
  return acc + low + (a >> 16) * (w >> 16);
}
#endif
#if defined(__ARM_FEATURE_DOTPROD)
#define TW_HAVE_DOT_BYTES 1
TW_INLINE IVec DotBytes(IVec acc, IVec a, IVec w) {
  return reinterpret_cast<IVec>(vdotq_s32(reinterpret_cast<int32x4_t>(acc),
                                          reinterpret_cast<int8x16_t>(a),
                                          reinterpret_cast<int8x16_t>(w)));
}
// acc + lane kLane of a * w.
template <int kLane>
TW_INLINE IVec DotBytesByLane(IVec acc, IVec a, IVec w) {
  asm volatile("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(acc) : "w"(w), "w"(a), "i"(kLane));
  return acc;
}
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
#define TW_HAVE_BYTE_PAIRS 1
// acc[2 x 2] += two rows of eight bytes * two columns of eight bytes. (Of what it may order
// itself, gcc 12 loads all of W at once and has no registers left for sums.)
TW_INLINE IVec MultiplyPairs(IVec acc, IVec rows, IVec columns) {
  asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(rows), "w"(columns));
  return acc;
}
// Eight bytes of each of two rows.
TW_INLINE IVec LoadPair(const uint8_t* row, const uint8_t* next) {
  return reinterpret_cast<IVec>(vcombine_u8(vld1_u8(row), vld1_u8(next)));
}
// Row 0 or 1 of two neighbouring [2 x 2].
TW_INLINE IVec RowOfPair(IVec left, IVec right, int row) {
  const int64x2_t l = reinterpret_cast<int64x2_t>(left), r = reinterpret_cast<int64x2_t>(right);
  return reinterpret_cast<IVec>(row == 0 ? vzip1q_s64(l, r) : vzip2q_s64(l, r));
}
#endif
#endif

#if defined(TW_HAVE_DOT_BYTES)
constexpr bool kHasDotBytes = true;
#else
constexpr bool kHasDotBytes = false;
#endif

#if defined(__SSE2__) && !defined(__AVX512F__) && !defined(__OPTIMIZE_SIZE__)
#define TW_HAVE_PAIRS_OF_ROWS 1
// kLanes pairs of bytes, one of `a` and one of `b`, widened to halves.
template <bool kUnsigned>
TW_INLINE IVec ZipToHalves(const void* a, const void* b) {
#if defined(__AVX2__)
  const __m128i bytes = _mm_unpacklo_epi8(_mm_loadl_epi64(static_cast<const __m128i*>(a)),
                                          _mm_loadl_epi64(static_cast<const __m128i*>(b)));
  return reinterpret_cast<IVec>(kUnsigned ? _mm256_cvtepu8_epi16(bytes)
                                          : _mm256_cvtepi8_epi16(bytes));
#else
  const __m128i bytes = _mm_unpacklo_epi8(LoadFourBytes(a), LoadFourBytes(b));
  const __m128i zero = _mm_setzero_si128();
  return reinterpret_cast<IVec>(kUnsigned ? _mm_unpacklo_epi8(bytes, zero)
                                          : _mm_srai_epi16(_mm_unpacklo_epi8(zero, bytes), 8));
#endif
}
#endif

// The sum of all lanes.
TW_INLINE int32_t SumLanes(IVec v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_epi32(reinterpret_cast<__m512i>(v));
#elif defined(__AVX2__)
  const __m256i all = reinterpret_cast<__m256i>(v);
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1)));
#elif defined(__aarch64__)
  return vaddvq_s32(reinterpret_cast<int32x4_t>(v));
#elif defined(__ARM_NEON)
  const int32x4_t all = reinterpret_cast<int32x4_t>(v);
  const int32x2_t sum = vadd_s32(vget_low_s32(all), vget_high_s32(all));
  return vget_lane_s32(vpadd_s32(sum, sum), 0);
#else
  return v[0] + v[1] + v[2] + v[3];
#endif
}

// kLanes values of a quantized type as ints, and back (they must fit).
TW_INLINE IVec LoadLanes(const int8_t* p) { return WidenInt8(p); }
TW_INLINE IVec LoadLanes(const uint8_t* p) { return WidenUInt8(p); }
TW_INLINE IVec LoadLanes(const int16_t* p) { return WidenInt16(p); }
TW_INLINE IVec LoadLanes(const int32_t* p) { return LoadInts(p); }

#if defined(__ARM_NEON)
template <typename T>
TW_INLINE void LoadFour(const T* p, int64_t step, IVec (&v)[4]) {
  if constexpr (sizeof(T) == 1) {
    if (step == kLanes) {
      const int8x16_t bytes = vld1q_s8(reinterpret_cast<const int8_t*>(p));
      const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
      v[0] = reinterpret_cast<IVec>(vmovl_s16(vget_low_s16(low)));
      v[1] = reinterpret_cast<IVec>(vmovl_s16(vget_high_s16(low)));
      v[2] = reinterpret_cast<IVec>(vmovl_s16(vget_low_s16(high)));
      v[3] = reinterpret_cast<IVec>(vmovl_s16(vget_high_s16(high)));
      return;
    }
  }
  for (int j = 0; j < 4; ++j) v[j] = LoadLanes(p + j * step);
}
#endif

// va[j]: the lanes from a + j * a_step on, and the same of b.
template <typename T>
TW_INLINE void LoadFours(const T* a, int64_t a_step, IVec (&va)[4], const T* b, int64_t b_step,
                         IVec (&vb)[4]) {
#if defined(__ARM_NEON)
  LoadFour(a, a_step, va);
  LoadFour(b, b_step, vb);
#else
  for (int j = 0; j < 4; ++j) {
    va[j] = LoadLanes(a + j * a_step);
    vb[j] = LoadLanes(b + j * b_step);
  }
#endif
}
TW_INLINE void StoreLanes(int8_t* p, IVec v) { StoreBytes(p, v, kLanes); }
TW_INLINE void StoreLanes(uint8_t* p, IVec v) { StoreBytes(p, v, kLanes); }
TW_INLINE void StoreLanes(int32_t* p, IVec v) { StoreInts(p, v); }
TW_INLINE void StoreLanes(int16_t* p, IVec v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(v)));
#elif defined(__AVX2__)
  const __m256i ints = reinterpret_cast<__m256i>(v);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(p),
      _mm_packs_epi32(_mm256_castsi256_si128(ints), _mm256_extracti128_si256(ints, 1)));
#elif defined(__SSE2__)
  const __m128i ints = reinterpret_cast<__m128i>(v);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(ints, ints));
#elif defined(__ARM_NEON)
  vst1_s16(p, vmovn_s32(reinterpret_cast<int32x4_t>(v)));
#else
  typedef int16_t NarrowInt16 __attribute__((vector_size(2 * kLanes)));
  *reinterpret_cast<NarrowInt16Anywhere*>(p) = __builtin_convertvector(v, NarrowInt16);
#endif
}

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_SIMD_INT_H_
