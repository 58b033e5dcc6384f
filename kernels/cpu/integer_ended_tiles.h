// Register tiles whose sums end in bytes or floats without leaving the registers; for integer_gemm_isa.cc.
// Only where that pays: TW_ENDS_IN_TILES.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_ENDED_TILES_H_
#define TOPWORK_KERNELS_CPU_INTEGER_ENDED_TILES_H_

#include <utility>

#include "kernels/cpu/integer_ends.h"

#if (defined(__aarch64__) || defined(__AVX2__)) && !defined(__OPTIMIZE_SIZE__)
#define TW_ENDS_IN_TILES

namespace topwork {
namespace TW_ISA {
namespace {

// Accumulators begin with a number for each column.
template <class Kind, int kA, int kW>
TW_INLINE void BeginSums(const int32_t* start, IVec (&acc)[kA][kW]) {
#pragma GCC unroll 8
  for (int m = 0; m < kA; ++m) {
#pragma GCC unroll 8
    for (int j = 0; j < kW; ++j) {
#if defined(TW_HAVE_BYTE_PAIRS)
      if constexpr (Kind::kPaired) {  // j: a pair of columns
        const int64_t* pair = reinterpret_cast<const int64_t*>(start + 2 * j);
        acc[m][j] = reinterpret_cast<IVec>(vreinterpretq_s32_s64(vld1q_dup_s64(pair)));
        continue;
      }
#endif
      acc[m][j] = LoadInts(start + j * kLanes);
    }
  }
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
    BeginSums<Kind>(bias, acc);
    if (__builtin_expect(row_term != nullptr, 0)) {
      AddRowTerms<Kind, kM>(acc, row_term);
      row_term += kM;
    }
    AddSegments<Kind, kM, kN, false>(acc, a, own, w);
    EndRows<Kind, Columns, kM, kN>(columns, range, acc, out, ldc);
  }
}

// The same as ByteTiles of floats, where all rows share a scale.
template <class Kind, int kM, int kN>
void FloatTiles(const IntegerTask& t, const uint8_t* const* a, const Segments& s, const int32_t* w,
                int64_t n, int64_t n_tiles, int64_t row) {
  constexpr int kA = Shape<Kind, kM, kN>::kA, kW = Shape<Kind, kM, kN>::kW;
  const int32_t* sums = Sums<Kind>(t.packed, t.n, t.runs, t.run_k) + n;
  const int32_t zero = t.row_zero != nullptr ? *t.row_zero : 0;
  alignas(kVectorBytes) int32_t start[kN * kLanes];
  Vec scale[kN], bias[kN], least = Vec{}, most = Vec{};
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    const int64_t at = j * kLanes;
    StoreInts(start + at, LoadInts(sums + at) * -zero);
    scale[j] = Load(t.scale + n + at) * *t.row_scale;
    bias[j] = t.float_bias != nullptr ? Load(t.float_bias + n + at) : Vec{};
  }
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  const int64_t ldc = t.ldc, addend_step = t.addend != nullptr ? ldc : 0;
  const Segments own = s;
  const float* addend = t.addend != nullptr ? t.addend + row * ldc + n : nullptr;
  float* out = static_cast<float*>(t.c) + row * ldc + n;
  for (int64_t i = 0; i < n_tiles; ++i, a += kM) {
    IVec acc[kA][kW];
    BeginSums<Kind>(start, acc);
    AddSegments<Kind, kM, kN, false>(acc, a, own, w);
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m, out += ldc, addend += addend_step) {
      IVec v[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) v[j] = SumsOf<Kind>(acc, m, j);
      EndFloatRow(v, scale, bias, lo, hi, addend, out, &least, &most);
    }
  }
  if (t.range != nullptr) WidenRange(t.range, least, most);
}

using EndedTilesFunction = void (*)(const IntegerTask&, const uint8_t* const*, const Segments&,
                                    const int32_t*, int64_t, int64_t, int64_t);

// Of the widest panels, the tile of [rows - 1]. (Others are few, and gcc 12 has the weights of some of them
// in memory, to keep in registers what ends them.)
template <class Kind, class Columns, class Rows = std::make_integer_sequence<int, kRows>>
struct WidestByteTiles;
template <class Kind, class Columns, int... kRow>
struct WidestByteTiles<Kind, Columns, std::integer_sequence<int, kRow...>> {
  static constexpr EndedTilesFunction kTable[] = {
      ByteTiles<Kind, Columns, kRow + 1, kMaxVectors>...};
};
template <class Kind, class Rows = std::make_integer_sequence<int, kRows>>
struct WidestFloatTiles;
template <class Kind, int... kRow>
struct WidestFloatTiles<Kind, std::integer_sequence<int, kRow...>> {
  static constexpr EndedTilesFunction kTable[] = {FloatTiles<Kind, kRow + 1, kMaxVectors>...};
};

// Whether a product's sums can end so.
inline bool EndsInTiles(const IntegerTask& t, const Segments& s) {
  if (s.tail != 0) return false;
  if (t.epilogue == IntegerEpilogue::kFloat) return t.row_step == 0 && t.run_scale == nullptr;
  return t.epilogue == IntegerEpilogue::kBytes && t.factors.real == nullptr && t.factors.small;
}

// Those of n_vectors vectors of columns from n0 on, by their rows, or null: there are none.
template <class Kind>
const EndedTilesFunction* EndedTilesOf(const IntegerTask& t, [[maybe_unused]] int64_t n0,
                                       int n_vectors) {
  if (n_vectors < kMaxVectors || n0 + kTileColumns > t.n) return nullptr;
  if (t.epilogue == IntegerEpilogue::kFloat) return WidestFloatTiles<Kind>::kTable;
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

#endif  // TOPWORK_KERNELS_CPU_INTEGER_ENDED_TILES_H_
