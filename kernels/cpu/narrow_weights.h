// Weights that 16-bit products keep as bytes; for integer_words.h and integer_tiles.h.
#ifndef TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_
#define TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_

#include "kernels/cpu/simd_int.h"

#if defined(__AVX2__) && !defined(TW_HAVE_DOT_BYTES) && !defined(__OPTIMIZE_SIZE__)
#define TW_HAVE_NARROW_WEIGHTS 1
#endif
#if (defined(TW_HAVE_DOT_BYTES) && !defined(TW_HAVE_BYTE_PAIRS)) || defined(TW_HAVE_NARROW_WEIGHTS)
#define TW_PACKS_BYTE_ROWS 1
#endif

namespace topwork {
namespace TW_ISA {

#if defined(TW_HAVE_NARROW_WEIGHTS)
// Two bytes of every column, widened to halves.
TW_INLINE IVec WidenToHalves(const void* p) {
  return reinterpret_cast<IVec>(
      _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}

// Of four bytes of every column the first two go to `first`, the others to `second` unless it is null.
TW_INLINE void StorePairs(IVec v, void* first, void* second) {
  const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                         0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m256i pairs = _mm256_permute4x64_epi64(
      _mm256_shuffle_epi8(reinterpret_cast<__m256i>(v), order), _MM_SHUFFLE(3, 1, 2, 0));
  _mm_storeu_si128(static_cast<__m128i*>(first), _mm256_castsi256_si128(pairs));
  if (second == nullptr) return;
  _mm_storeu_si128(static_cast<__m128i*>(second), _mm256_extracti128_si256(pairs, 1));
}

// sum + the four bytes of every lane.
TW_INLINE IVec AddBytes(IVec sum, IVec v) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), reinterpret_cast<__m256i>(v));
  return sum + reinterpret_cast<IVec>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#elif defined(TW_PACKS_BYTE_ROWS)
TW_INLINE IVec AddBytes(IVec sum, IVec v) { return DotBytes(sum, Broadcast(0x01010101), v); }
#endif

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_NARROW_WEIGHTS_H_
