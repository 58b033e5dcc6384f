// Weights that 16-bit products keep as bytes; for integer_words.h and integer_tiles.h.
#ifndef TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_
#define TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_

#include "kernels/cpu/simd_int.h"

#if (defined(__AVX2__) || defined(__ARM_NEON)) && !defined(TW_HAVE_DOT_BYTES) && \
    !defined(__OPTIMIZE_SIZE__)
#define TW_HAVE_NARROW_WEIGHTS 1
#endif
#if (defined(TW_HAVE_DOT_BYTES) && !defined(TW_HAVE_BYTE_PAIRS)) || defined(TW_HAVE_NARROW_WEIGHTS)
#define TW_PACKS_BYTE_ROWS 1
#endif

namespace topwork {
namespace TW_ISA {

#if defined(TW_HAVE_NARROW_WEIGHTS)
// A vector of columns has two bytes of depth of each. For NEON, which multiplies by halves of vectors,
// the first bytes of all columns come first; else those of a column are neighbours.
#if defined(__ARM_NEON)
constexpr bool kSplitsPairs = true;
TW_INLINE IVec WidenToHalves(const void* p) {
  return reinterpret_cast<IVec>(vmovl_s8(vld1_s8(static_cast<const int8_t*>(p))));
}

// acc + the halves 2 kLane and 2 kLane + 1 of a, times those of columns.
template <int kLane>
TW_INLINE IVec DotColumnsByLane(IVec acc, IVec a, IVec columns) {
  const int16x8_t all = reinterpret_cast<int16x8_t>(a), w = reinterpret_cast<int16x8_t>(columns);
  const int16x4_t half = kLane < 2 ? vget_low_s16(all) : vget_high_s16(all);
  const int32x4_t sum =
      vmlal_lane_s16(reinterpret_cast<int32x4_t>(acc), vget_low_s16(w), half, kLane % 2 * 2);
#if defined(__aarch64__)
  return reinterpret_cast<IVec>(vmlal_high_lane_s16(sum, w, half, kLane % 2 * 2 + 1));
#else
  return reinterpret_cast<IVec>(vmlal_lane_s16(sum, vget_high_s16(w), half, kLane % 2 * 2 + 1));
#endif
}

// Of four bytes of every column the first two go to `first`, the others to `second` unless it is null.
TW_INLINE void StorePairs(IVec v, void* first, void* second) {
  const uint8x16_t bytes = reinterpret_cast<uint8x16_t>(v);
  const uint8x8_t front = vcreate_u8(0x0D0905010C080400), back = vcreate_u8(0x0F0B07030E0A0602);
#if defined(__aarch64__)
  vst1_u8(static_cast<uint8_t*>(first), vqtbl1_u8(bytes, front));
  if (second != nullptr) vst1_u8(static_cast<uint8_t*>(second), vqtbl1_u8(bytes, back));
#else
  const uint8x8x2_t halves = {{vget_low_u8(bytes), vget_high_u8(bytes)}};
  vst1_u8(static_cast<uint8_t*>(first), vtbl2_u8(halves, front));
  if (second != nullptr) vst1_u8(static_cast<uint8_t*>(second), vtbl2_u8(halves, back));
#endif
}

// sum + the four bytes of every lane.
TW_INLINE IVec AddWeights(IVec sum, IVec v) {
  return reinterpret_cast<IVec>(
      vpadalq_s16(reinterpret_cast<int32x4_t>(sum), vpaddlq_s8(reinterpret_cast<int8x16_t>(v))));
}
#else
constexpr bool kSplitsPairs = false;
TW_INLINE IVec WidenToHalves(const void* p) {
  return reinterpret_cast<IVec>(
      _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}

TW_INLINE void StorePairs(IVec v, void* first, void* second) {
  const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                         0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m256i pairs = _mm256_permute4x64_epi64(
      _mm256_shuffle_epi8(reinterpret_cast<__m256i>(v), order), _MM_SHUFFLE(3, 1, 2, 0));
  _mm_storeu_si128(static_cast<__m128i*>(first), _mm256_castsi256_si128(pairs));
  if (second == nullptr) return;
  _mm_storeu_si128(static_cast<__m128i*>(second), _mm256_extracti128_si256(pairs, 1));
}

TW_INLINE IVec AddWeights(IVec sum, IVec v) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), reinterpret_cast<__m256i>(v));
  return sum + reinterpret_cast<IVec>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif
#else
constexpr bool kSplitsPairs = false;
#endif
#if defined(TW_HAVE_DOT_BYTES)
TW_INLINE IVec AddWeights(IVec sum, IVec v) { return DotBytes(sum, Broadcast(0x01010101), v); }
#endif

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_
