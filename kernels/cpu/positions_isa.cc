// Positions of extremes, one instruction set's copy (see positions.h).
//
// Blocks of 16 bytes with every instruction set: rows are often as short as 21 classes.
#include "kernels/cpu/positions.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {

extern const PositionKernels kPositionKernels;

namespace {

typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint8_t Bytes16Anywhere __attribute__((vector_size(16), aligned(1), may_alias));

TW_INLINE Bytes16 LoadBytes16(const uint8_t* p, uint8_t flip) {
  return *reinterpret_cast<const Bytes16Anywhere*>(p) ^ flip;
}
TW_INLINE Bytes16 Least(Bytes16 a, Bytes16 b) { return a < b ? a : b; }

// The least of 16 bytes.
TW_INLINE uint8_t LeastByte(Bytes16 v) {
#if defined(__SSE2__)
  __m128i least = reinterpret_cast<__m128i>(v);
#if defined(__SSE4_1__)
  return static_cast<uint8_t>(
      _mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu8(least, _mm_srli_epi16(least, 8)))));
#else
  least = _mm_min_epu8(least, _mm_srli_si128(least, 8));
  least = _mm_min_epu8(least, _mm_srli_si128(least, 4));
  least = _mm_min_epu8(least, _mm_srli_si128(least, 2));
  least = _mm_min_epu8(least, _mm_srli_si128(least, 1));
  return static_cast<uint8_t>(_mm_cvtsi128_si32(least));
#endif
#elif defined(__aarch64__)
  return vminvq_u8(reinterpret_cast<uint8x16_t>(v));
#elif defined(__ARM_NEON)
  const uint8x16_t all = reinterpret_cast<uint8x16_t>(v);
  uint8x8_t least = vpmin_u8(vget_low_u8(all), vget_high_u8(all));
  for (int i = 0; i < 3; ++i) least = vpmin_u8(least, least);
  return vget_lane_u8(least, 0);
#else
  uint8_t least = v[0];
  for (int i = 1; i < 16; ++i) least = v[i] < least ? v[i] : least;
  return least;
#endif
}

// Bits of the equal bytes: kBitsOfByte each, the first in the lowest ones.
#if defined(__SSE2__)
constexpr int kBitsOfByte = 1;
TW_INLINE uint64_t EqualBits(Bytes16 v, uint8_t value) {
  return static_cast<uint64_t>(
      _mm_movemask_epi8(reinterpret_cast<__m128i>(v == Bytes16{} + value)));
}
#elif defined(__ARM_NEON)
constexpr int kBitsOfByte = 4;
TW_INLINE uint64_t EqualBits(Bytes16 v, uint8_t value) {
  const uint16x8_t equal = reinterpret_cast<uint16x8_t>(v == Bytes16{} + value);
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(equal, 4)), 0);
}
#else
constexpr int kBitsOfByte = 1;
TW_INLINE uint64_t EqualBits(Bytes16 v, uint8_t value) {
  uint64_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<uint64_t>(v[i] == value) << i;
  return bits;
}
#endif
TW_INLINE int64_t FirstOf(uint64_t bits) { return __builtin_ctzll(bits) / kBitsOfByte; }

// Fewer than 16 values.
TW_INLINE int64_t ShortPosition(const uint8_t* x, int64_t n, uint8_t flip) {
  int64_t position = 0;
  int best = x[0] ^ flip;
  for (int64_t i = 1; i < n; ++i) {
    const int value = x[i] ^ flip;
    position = value < best ? i : position;
    best = value < best ? value : best;
  }
  return position;
}

// 16 to 32 values: without a branch, as the position is anyone's guess.
TW_INLINE int64_t TwoBlockPosition(const uint8_t* x, int64_t n, uint8_t flip) {
  const Bytes16 head = LoadBytes16(x, flip), tail = LoadBytes16(x + n - 16, flip);
  const uint8_t least = LeastByte(Least(head, tail));
  const uint64_t in_head = EqualBits(head, least), in_tail = EqualBits(tail, least);
  const int64_t first = FirstOf(in_head != 0 ? in_head : in_tail);
  return in_head != 0 ? first : first + n - 16;
}

TW_INLINE int64_t LongPosition(const uint8_t* x, int64_t n, uint8_t flip) {
  const Bytes16 tail = LoadBytes16(x + n - 16, flip);
  Bytes16 block = tail;
  for (int64_t i = 0; i + 16 <= n; i += 16) block = Least(block, LoadBytes16(x + i, flip));
  const uint8_t least = LeastByte(block);
  for (int64_t i = 0; i + 16 <= n; i += 16) {
    const uint64_t bits = EqualBits(LoadBytes16(x + i, flip), least);
    if (bits != 0) return i + FirstOf(bits);
  }
  return n - 16 + FirstOf(EqualBits(tail, least));
}

void LeastBytes(const uint8_t* x, int64_t rows, int64_t n, uint8_t flip, int64_t* out) {
  if (n < 16) {
    for (int64_t r = 0; r < rows; ++r) out[r] = ShortPosition(x + r * n, n, flip);
  } else if (n <= 32) {
    for (int64_t r = 0; r < rows; ++r) out[r] = TwoBlockPosition(x + r * n, n, flip);
  } else {
    for (int64_t r = 0; r < rows; ++r) out[r] = LongPosition(x + r * n, n, flip);
  }
}

}  // namespace

const PositionKernels kPositionKernels = {LeastBytes};

}  // namespace TW_ISA
}  // namespace topwork
