// Tables of 256 bytes, looked up by many bytes at once; for *_isa.cc files.
#ifndef TOPWORK_KERNELS_CPU_SIMD_TABLE_H_
#define TOPWORK_KERNELS_CPU_SIMD_TABLE_H_

#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(__AVX2__)
// y = table[x] of the first bytes of each row, as many as it returns. An instruction looks up 16 entries by the
// low half of a byte, and gives 0 where the byte is negative. Of x, x - 16, x - 32 and so on, those
// from 0 to 127 look up their piece of the table: pieces 0 to p for a byte of piece p < 8, and the
// 8 pieces up to p for others. The sum (XOR) of what they give is to be the answer, so a piece holds
// what it changes of the sum before it.
int64_t LookupByPieces(const uint8_t* x, uint8_t* y, const ByteRows& rows, const uint8_t* table) {
  __m128i pieces[16];
  for (int p = 0; p < 16; ++p) {
    pieces[p] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * p));
  }
  for (int p = 15; p > 0; --p) pieces[p] = _mm_xor_si128(pieces[p], pieces[p - 1]);
  for (int p = 8; p < 16; ++p) pieces[p] = _mm_xor_si128(pieces[p], pieces[p - 8]);
  const __m256i step = _mm256_set1_epi8(16);
  const int64_t done = rows.n / 64 * 64;
  for (int64_t row = 0; row < rows.rows; ++row, x += rows.x_step, y += rows.y_step) {
    for (int64_t i = 0; i < done; i += 64) {
      __m256i v[2], sum[2];
      for (int k = 0; k < 2; ++k) {
        v[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i + 32 * k));
        sum[k] = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(pieces[0]), v[k]);
      }
      for (int p = 1; p < 16; ++p) {
        const __m256i piece = _mm256_broadcastsi128_si256(pieces[p]);
        for (int k = 0; k < 2; ++k) {
          // From piece 8 on, what was below 128 is negative, and stays so.
          v[k] = p <= 8 ? _mm256_sub_epi8(v[k], step) : _mm256_subs_epi8(v[k], step);
          sum[k] = _mm256_xor_si256(sum[k], _mm256_shuffle_epi8(piece, v[k]));
        }
      }
      for (int k = 0; k < 2; ++k) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i + 32 * k), sum[k]);
      }
    }
  }
  return done;
}
#endif

#if defined(__AVX512F__)
// The same for processors with AVX-512 VBMI, of all bytes.
__attribute__((target("avx512vbmi"))) int64_t LookupByHalves(const uint8_t* x, uint8_t* y,
                                                             const ByteRows& rows,
                                                             const uint8_t* table) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64);
  const __m512i t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  const auto lookup = [&](__m512i v) __attribute__((target("avx512vbmi"))) {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), _mm512_permutex2var_epi8(t0, v, t1),
                                  _mm512_permutex2var_epi8(t2, v, t3));
  };
  const int64_t n = rows.n, whole = n / 64 * 64;
  const __mmask64 left = (uint64_t{1} << (n - whole)) - 1;
  for (int64_t row = 0; row < rows.rows; ++row, x += rows.x_step, y += rows.y_step) {
    for (int64_t i = 0; i < whole; i += 64) {
      _mm512_storeu_si512(y + i, lookup(_mm512_loadu_si512(x + i)));
    }
    if (left == 0) continue;
    _mm512_mask_storeu_epi8(y + whole, left, lookup(_mm512_maskz_loadu_epi8(left, x + whole)));
  }
  return n;
}
#endif

// y = table[x] of the first bytes of each row, as many as it returns.
TW_INLINE int64_t LookupVectors([[maybe_unused]] const uint8_t* x, [[maybe_unused]] uint8_t* y,
                                [[maybe_unused]] const ByteRows& rows,
                                [[maybe_unused]] const uint8_t* table) {
#if defined(__AVX512F__)
  if (looks_up_halves) return LookupByHalves(x, y, rows, table);
  return LookupByPieces(x, y, rows, table);
#elif defined(__AVX2__)
  return LookupByPieces(x, y, rows, table);
#elif defined(__aarch64__)
  uint8x16x4_t quarters[4];
  for (int q = 0; q < 4; ++q) quarters[q] = vld1q_u8_x4(table + 64 * q);
  const int64_t done = rows.n / 16 * 16;
  for (int64_t row = 0; row < rows.rows; ++row, x += rows.x_step, y += rows.y_step) {
    for (int64_t i = 0; i < done; i += 16) {
      const uint8x16_t v = vld1q_u8(x + i);
      uint8x16_t found = vqtbl4q_u8(quarters[0], v);
      for (int q = 1; q < 4; ++q) {
        // What lies outside of a quarter changes nothing.
        const uint8x16_t at = vsubq_u8(v, vdupq_n_u8(static_cast<uint8_t>(64 * q)));
        found = vqtbx4q_u8(found, quarters[q], at);
      }
      vst1q_u8(y + i, found);
    }
  }
  return done;
#else
  return 0;
#endif
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_SIMD_TABLE_H_
