// Sums of the rows of A, which weights with a zero point want; for *_isa.cc files with products of bytes.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_ROW_SUMS_H_
#define TOPWORK_KERNELS_CPU_INTEGER_ROW_SUMS_H_

#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

TW_INLINE const uint8_t* RowOf(const IntegerTask& t, int64_t row) {
  return t.a + (t.row_offsets != nullptr ? t.row_offsets[row] : row * t.lda);
}

#if defined(TW_HAVE_DOT_BYTES)

TW_INLINE IVec AddBytes(IVec acc, IVec bytes) {
  return DotBytes(acc, bytes, Broadcast(0x01010101));
}

// The bytes of a run beyond whole vectors.
struct RunEnd {
  int64_t n;
  IVec flips;
#if defined(__AVX512F__)
  __mmask64 mask;
#endif
};

#if defined(__AVX512F__)
TW_INLINE RunEnd EndOf(const IntegerTask& t, IVec flips) {
  const int64_t n = t.run_k % kVectorBytes;
  const __mmask64 mask = (uint64_t{1} << n) - 1;
  const __m512i some = _mm512_maskz_mov_epi8(mask, reinterpret_cast<__m512i>(flips));
  return {n, reinterpret_cast<IVec>(some), mask};
}
// acc + groups of four bytes.
TW_INLINE IVec AddEnd(const RunEnd& end, IVec acc, const uint8_t* a, int32_t*) {
  return AddBytes(acc, reinterpret_cast<IVec>(_mm512_maskz_loadu_epi8(end.mask, a)) ^ end.flips);
}
#else
TW_INLINE RunEnd EndOf(const IntegerTask& t, IVec flips) { return {t.run_k % kVectorBytes, flips}; }

// The sum of the eight unsigned bytes of x.
TW_INLINE int32_t SumEight(uint64_t x) {
  constexpr uint64_t kEven = 0x00FF00FF00FF00FFu;
  const uint64_t pairs = (x & kEven) + ((x >> 8) & kEven);
  return static_cast<int32_t>((pairs * 0x0001000100010001u) >> 48);
}

// The same in scalars, to *rest.
TW_INLINE IVec AddEnd(const RunEnd& end, IVec acc, const uint8_t* a, int32_t* rest) {
  // Signed bytes are summed as unsigned ones that are 128 larger.
  const uint8_t shift = kFlipInt8 != 0 ? 0 : 0x80;
  const uint64_t flip = static_cast<uint8_t>(end.flips[0] ^ shift) * 0x0101010101010101u;
  *rest -= static_cast<int32_t>(end.n) * shift;
  int64_t n = end.n;
  for (; n >= 8; n -= 8, a += 8) {
    uint64_t bytes;
    __builtin_memcpy(&bytes, a, 8);
    *rest += SumEight(bytes ^ flip);
  }
  for (; n > 0; --n) *rest += static_cast<uint8_t>(*a++ ^ flip);
  return acc;
}
#endif

// Parts of the sum of row r: lanes, and *rest.
TW_INLINE IVec SumRow(const IntegerTask& t, int64_t r, IVec flips, const RunEnd& end,
                      int32_t* rest) {
  const uint8_t* const row = RowOf(t, r);
  IVec acc = IVec{};
  *rest = 0;
  for (int64_t run = 0; run < t.runs; ++run) {
    const uint8_t* a = row + (t.run_offsets != nullptr ? t.run_offsets[run] : 0);
    for (const uint8_t* const stop = a + (t.run_k - end.n); a < stop; a += kVectorBytes) {
      acc = AddBytes(acc, LoadInts(a) ^ flips);
    }
    if (end.n > 0) acc = AddEnd(end, acc, a, rest);
  }
  return acc;
}

#if !defined(__OPTIMIZE_SIZE__)
// Lanes 0, 2, 4 and so on of `a` and then of `b`, from `i` on.
template <int i>
TW_INLINE IVec EverySecond(IVec a, IVec b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14,
                                 i + 16, i + 18, i + 20, i + 22, i + 24, i + 26, i + 28, i + 30);
#elif defined(__AVX__)
  return __builtin_shufflevector(a, b, i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14);
#else
  return __builtin_shufflevector(a, b, i, i + 2, i + 4, i + 6);
#endif
}

// The lanes of kN vectors in a row, kN of them added up at a time.
template <int kN>
TW_INLINE IVec AddNeighbours(IVec (&v)[kN]) {
#pragma GCC unroll 4
  for (int n = kN / 2; n > 0; n /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) {
      const IVec a = v[2 * i], b = v[2 * i + 1];
      v[i] = EverySecond<0>(a, b) + EverySecond<1>(a, b);
    }
  }
  return v[0];
}

// kLanes rows at a time that are 4 kN bytes long and lie one after the other.
template <int kN>
TW_INLINE int64_t DenseRowSums(const uint8_t* a, int64_t m, IVec flips, int32_t* out) {
  int64_t r = 0;
  for (; r + kLanes <= m; r += kLanes) {
    IVec v[kN];
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i, a += kVectorBytes) v[i] = AddBytes(IVec{}, LoadInts(a) ^ flips);
    StoreInts(out + r, AddNeighbours(v));
  }
  return r;
}

// The rows of the task of which that gives the sums.
TW_INLINE int64_t DenseRowSums(const IntegerTask& t, IVec flips, int32_t* out) {
  if (t.runs != 1 || t.row_offsets != nullptr || t.lda != t.run_k) return 0;
  if (t.run_k == 8) return DenseRowSums<2>(t.a, t.m, flips, out);
  if (t.run_k == 16) return DenseRowSums<4>(t.a, t.m, flips, out);
  if constexpr (kLanes >= 8) {
    if (t.run_k == 32) return DenseRowSums<8>(t.a, t.m, flips, out);
  }
  if constexpr (kLanes >= 16) {
    if (t.run_k == 64) return DenseRowSums<16>(t.a, t.m, flips, out);
  }
  return 0;
}

#if defined(__AVX512F__)
constexpr int64_t kQuarter = kVectorBytes / 4;

// Four rows whose runs have up to 16 bytes, a quarter of a vector each.
TW_INLINE IVec SumFourRows(const IntegerTask& t, int64_t r, IVec flips, __mmask16 mask) {
  const uint8_t* const rows[4] = {RowOf(t, r), RowOf(t, r + 1), RowOf(t, r + 2), RowOf(t, r + 3)};
  IVec acc = IVec{};
  for (int64_t run = 0; run < t.runs; ++run) {
    const int64_t at = t.run_offsets != nullptr ? t.run_offsets[run] : 0;
    __m512i x = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(mask, rows[0] + at));
    x = _mm512_inserti32x4(x, _mm_maskz_loadu_epi8(mask, rows[1] + at), 1);
    x = _mm512_inserti32x4(x, _mm_maskz_loadu_epi8(mask, rows[2] + at), 2);
    x = _mm512_inserti32x4(x, _mm_maskz_loadu_epi8(mask, rows[3] + at), 3);
    acc = AddBytes(acc, reinterpret_cast<IVec>(x) ^ flips);
  }
  return acc;
}

// kLanes rows at a time, from row r on: a load of a whole vector would mostly lie in two lines of the cache.
TW_INLINE int64_t ShortRunSums(const IntegerTask& t, int64_t r, IVec flips, int32_t* out) {
  if (t.run_k > kQuarter) return r;
  const uint64_t mask = (uint64_t{1} << t.run_k) - 1;
  const __m512i some =
      _mm512_maskz_mov_epi8(mask * 0x0001000100010001u, reinterpret_cast<__m512i>(flips));
  for (; r + kLanes <= t.m; r += kLanes) {
    IVec v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      v[i] = SumFourRows(t, r + 4 * i, reinterpret_cast<IVec>(some), static_cast<__mmask16>(mask));
    }
    StoreInts(out + r, AddNeighbours(v));
  }
  return r;
}
#else
TW_INLINE int64_t ShortRunSums(const IntegerTask&, int64_t r, IVec, int32_t*) { return r; }
#endif

// kLanes rows at a time.
TW_INLINE int64_t GroupSums(const IntegerTask& t, IVec flips, const RunEnd& end, int32_t* out) {
  int64_t r = ShortRunSums(t, DenseRowSums(t, flips, out), flips, out);
  for (; r + kLanes <= t.m; r += kLanes) {
    IVec sums[kLanes];
    int32_t rests[kLanes];
    for (int i = 0; i < kLanes; ++i) sums[i] = SumRow(t, r + i, flips, end, rests + i);
    StoreInts(out + r, AddNeighbours(sums) + LoadInts(rests));
  }
  return r;
}
#endif

// IntegerGemm::row_sums.
[[maybe_unused]] void RowSums(const IntegerTask& t, int32_t* out) {
  const IVec flips = Broadcast(static_cast<int32_t>(t.flip * 0x01010101u));
  const RunEnd end = EndOf(t, flips);
  int64_t r = 0;
#if !defined(__OPTIMIZE_SIZE__)
  r = GroupSums(t, flips, end, out);
#endif
  for (; r < t.m; ++r) {
    int32_t rest;
    const IVec sum = SumRow(t, r, flips, end, &rest);
    out[r] = SumLanes(sum) + rest;
  }
}

#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_ROW_SUMS_H_
