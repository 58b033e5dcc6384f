// Register tiles whose sums end in bytes without leaving the registers; for integer_gemm_isa.cc.
// Only where that pays: TW_ENDS_IN_TILES.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_BYTE_TILES_H_
#define TOPWORK_KERNELS_CPU_INTEGER_BYTE_TILES_H_

#include <utility>

#include "kernels/cpu/integer_ends.h"

#if (defined(__aarch64__) || defined(__AVX2__)) && !defined(__OPTIMIZE_SIZE__)
#define TW_ENDS_IN_TILES

namespace topwork {
namespace TW_ISA {
namespace {

// What accumulators of vector j of columns begin with, of the columns' biases.
template <class Kind>
TW_INLINE IVec BiasOf(const int32_t* bias, int j) {
#if defined(TW_HAVE_BYTE_PAIRS)
  if constexpr (Kind::kPaired) {  // j: a pair of columns
    return reinterpret_cast<IVec>(
        vreinterpretq_s32_s64(vld1q_dup_s64(reinterpret_cast<const int64_t*>(bias + 2 * j))));
  }
#endif
  return LoadInts(bias + j * kLanes);
}

// Adds the terms of kM rows to their sums.
template <class Kind, int kM, int kA, int kW>
TW_INLINE void AddRowTerms(IVec (&acc)[kA][kW], const int32_t* terms) {
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
    IVec term = Broadcast(terms[Kind::kPaired ? 2 * m : m]);
    if (Kind::kPaired && 2 * m + 1 < kM) {
      const IVec next = Broadcast(terms[2 * m + 1]);
#pragma GCC unroll 2
      for (int i = kLanes / 2; i < kLanes; ++i) term[i] = next[i];
    }
#pragma GCC unroll 8
    for (int j = 0; j < kW; ++j) acc[m][j] += term;
  }
}

// The bytes of kM rows of kN vectors of sums.
template <class Kind, class Columns, int kM, int kN, int kA, int kW>
TW_INLINE void EndRows(const Columns (&columns)[kN], const ByteRange& range,
                       const IVec (&acc)[kA][kW], uint8_t* out, int64_t ldc) {
  constexpr int kAtOnce = 4 / kN;  // rows
#pragma GCC unroll 8
  for (int m = 0; m < kM; m += kAtOnce, out += kAtOnce * ldc) {
    IVec v[kAtOnce * kN];
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce * kN; ++i) {
      const int row = m + i / kN < kM ? m + i / kN : kM - 1;
      v[i] = columns[i % kN](SumsOf<Kind>(acc, row, i % kN));
    }
    const ByteVec bytes = Columns::Pack(range, v);
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce; ++i) {
      if (m + i < kM) StoreParts<kN>(out + i * ldc, bytes, i * kN, kN * kLanes);
    }
  }
}

// n_tiles tiles of the columns from n on, one below the other; the first begins with `row`, which lies
// at a[0].
template <class Kind, class Columns, int kM, int kN>
void ByteTiles(const IntegerTask& t, const uint8_t* const* a, const Segments& s, const int32_t* w,
               int64_t n, int64_t n_tiles, int64_t row) {
  constexpr int kA = Shape<Kind, kM, kN>::kA, kW = Shape<Kind, kM, kN>::kW;
  const ByteRange range =
      MakeByteRange(t.zero_point, t.least + t.zero_point, t.most + t.zero_point);
  const int64_t ldc = t.ldc;
  const Segments own = s;  // (Bytes that are stored may alias others'.)
  Columns columns[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) columns[j].Load(t.factors, n + j * kLanes);
  const int32_t* bias = Columns::Bias(t) + n;
  const int32_t* row_term = t.row_term != nullptr ? t.row_term + row : nullptr;
  uint8_t* out = static_cast<uint8_t*>(t.c) + row * ldc + n;
  for (int64_t i = 0; i < n_tiles; ++i, a += kM, out += kM * ldc) {
    IVec acc[kA][kW];
#pragma GCC unroll 8
    for (int m = 0; m < kA; ++m) {
#pragma GCC unroll 8
      for (int j = 0; j < kW; ++j) acc[m][j] = BiasOf<Kind>(bias, j);
    }
    if (__builtin_expect(row_term != nullptr, 0)) {
      AddRowTerms<Kind, kM>(acc, row_term);
      row_term += kM;
    }
    AddSegments<Kind, kM, kN, false>(acc, a, own, w);
    EndRows<Kind, Columns, kM, kN>(columns, range, acc, out, ldc);
  }
}

using ByteTilesFunction = void (*)(const IntegerTask&, const uint8_t* const*, const Segments&,
                                   const int32_t*, int64_t, int64_t, int64_t);

// Of the widest panels, the tile of [rows - 1]. (Others are few, and gcc 12 has the weights of some of them
// in memory, to keep in registers what ends them.)
template <class Kind, class Columns, class Rows = std::make_integer_sequence<int, kRows>>
struct WidestByteTiles;
template <class Kind, class Columns, int... kRow>
struct WidestByteTiles<Kind, Columns, std::integer_sequence<int, kRow...>> {
  static constexpr ByteTilesFunction kTable[] = {
      ByteTiles<Kind, Columns, kRow + 1, kMaxVectors>...};
};

// Whether a product's sums can end so.
inline bool EndsInTiles(const IntegerTask& t, const Segments& s) {
  return t.epilogue == IntegerEpilogue::kBytes && t.factors.real == nullptr && t.factors.small &&
         s.tail == 0;
}

// Those of n_vectors vectors of columns from n0 on, by their rows, or null: there are none.
template <class Kind>
const ByteTilesFunction* ByteTilesOf(const IntegerTask& t, [[maybe_unused]] int64_t n0,
                                     int n_vectors) {
  if (n_vectors < kMaxVectors || n0 + kTileColumns > t.n) return nullptr;
#if defined(TW_HAVE_SINGLE_FACTORS)
  if (!HaveSingles(t.factors.single, n0, n_vectors * kLanes)) return nullptr;
  return t.factors.single.shift != nullptr
             ? WidestByteTiles<Kind, SingleColumns<MirroredSingles, false>>::kTable
             : WidestByteTiles<Kind, SingleColumns<VectorSingles, false>>::kTable;
#else
  const bool whole = kPacksWhole && IsWhole(t.least + t.zero_point, t.most + t.zero_point);
  return whole ? WidestByteTiles<Kind, SmallColumns<kPacksWhole>>::kTable
               : WidestByteTiles<Kind, SmallColumns<false>>::kTable;
#endif
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif

#endif  // TOPWORK_KERNELS_CPU_INTEGER_BYTE_TILES_H_
