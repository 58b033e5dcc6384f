// Products of rows of A and weights that have a scale for every run ("block") of a row; for
// integer_gemm_isa.cc. Runs are multiplied as integers, their sums scaled and added as floats.
//
// Weights of 4 bits may be packed as nibbles: a lane has eight values of a column, a word in the
// low halves of its bytes and the next word in the high halves. Both are multiplied times 16, which
// their scales make up for.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_BLOCKS_H_
#define TOPWORK_KERNELS_CPU_INTEGER_BLOCKS_H_

#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_tiles.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

TW_INLINE IVec LowNibbles(IVec v) { return (v << 4) & static_cast<int32_t>(0xF0F0F0F0u); }
TW_INLINE IVec HighNibbles(IVec v) { return v & static_cast<int32_t>(0xF0F0F0F0u); }

// A row of A and kN vectors of columns; their sums are scaled without leaving the registers.
template <class Kind, int kN>
void SumRow(const IntegerTask& t, const uint8_t* a, const Segments& s, const int32_t* w,
            const float* scales, Vec* sums) {
  Vec total[kN] = {};
  const IVec flip = LoadInts(s.flip);
  for (int64_t run = 0; run < s.runs; ++run, scales += t.run_scale_step) {
    const uint8_t* rows[1] = {a + s.offsets[run]};
    IVec acc[1][kN] = {};
    for (int64_t i = 0; i < s.words; ++i, w += kN * kLanes) {
      AddWord<Kind, 1>(acc, rows, i * Kind::kSize * Kind::kGroup, w, flip);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) total[j] += ToFloat(acc[0][j]) * Load(scales + j * kLanes);
  }
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) sums[j] = total[j];
}

// The same of nibbles and kM rows.
template <class Kind, int kM, int kN>
void SumNibbles(const IntegerTask& t, const uint8_t* const* a, const Segments& s, const int32_t* w,
                const float* scales, Vec* sums) {
  constexpr int kChains = kM == 1 ? 2 : 1;  // of additions, for a few in flight
  Vec total[kM * kN] = {};
  const IVec flip = LoadInts(s.flip);
  for (int64_t run = 0; run < s.runs; ++run, scales += t.run_scale_step) {
    IVec acc[kChains][kM * kN] = {};
    const int64_t end = s.offsets[run] + s.words * 4;
    for (int64_t at = s.offsets[run]; at < end; at += 8, w += kN * kLanes) {
      IVec low[kN], high[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        const IVec pair = LoadInts(w + j * kLanes);
        low[j] = LowNibbles(pair);
        high[j] = HighNibbles(pair);
      }
#pragma GCC unroll 4
      for (int m = 0; m < kM; ++m) {
        const IVec first = BroadcastWord(a[m] + at), second = BroadcastWord(a[m] + at + 4);
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) {
          const int i = m * kN + j;
          acc[0][i] = Kind::Dot(acc[0][i], first, low[j], flip);
          acc[kChains - 1][i] = Kind::Dot(acc[kChains - 1][i], second, high[j], flip);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kM * kN; ++i) {
      const IVec sum = kChains == 2 ? acc[0][i] + acc[kChains - 1][i] : acc[0][i];
      total[i] += ToFloat(sum) * Load(scales + i % kN * kLanes);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kM * kN; ++i) sums[i] = total[i];
}

template <class Kind, int kN>
void SumNibbleRows(const IntegerTask& t, const uint8_t* const* a, const Segments& s,
                   const int32_t* w, const float* scales, int rows, Vec* sums) {
  int m = 0;
  for (; m + 4 <= rows; m += 4) SumNibbles<Kind, 4, kN>(t, a + m, s, w, scales, sums + m * kN);
  for (; m + 2 <= rows; m += 2) SumNibbles<Kind, 2, kN>(t, a + m, s, w, scales, sums + m * kN);
  if (m < rows) SumNibbles<Kind, 1, kN>(t, a + m, s, w, scales, sums + m * kN);
}

// Up to kRows rows, by way of memory.
void SumRows(const IntegerTask& t, TileFunction tile, const uint8_t* const* a, Segments s,
             const int32_t* w, int64_t piece_ints, const float* scales, int rows, int n_vectors,
             Vec* sums) {
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  const int64_t* offsets = s.offsets;
  const int64_t runs = s.runs;
  s.runs = 1;
  for (int64_t run = 0; run < runs; ++run, scales += t.run_scale_step) {
    s.offsets = offsets + run;
    tile(a, s, w + run * piece_ints, products);
    for (int j = 0; j < n_vectors; ++j) {
      const Vec scale = Load(scales + j * kLanes);
      for (int m = 0; m < rows; ++m) {
        const int at = m * n_vectors + j;
        sums[at] += ToFloat(LoadInts(products + at * kLanes)) * scale;
      }
    }
  }
}

template <class Kind>
void SumBlocks(const IntegerTask& t, TileFunction tile, const uint8_t* const* a, const Segments& s,
               const int32_t* w, int64_t piece_ints, const float* scales, int rows, int n_vectors,
               Vec* sums) {
  if constexpr (!Kind::kPaired && Kind::kSize == 1) {
    if (t.nibbles) {
      const auto sum = n_vectors == 1   ? SumNibbleRows<Kind, 1>
                       : n_vectors == 2 ? SumNibbleRows<Kind, 2>
                                        : SumNibbleRows<Kind, kMaxVectors>;
      return sum(t, a, s, w, scales, rows, sums);
    }
  }
  if constexpr (!Kind::kPaired) {
    if (rows == 1 && s.tail == 0 && !kPairsWords<Kind>(n_vectors)) {
      const auto sum = n_vectors == 1   ? SumRow<Kind, 1>
                       : n_vectors == 2 ? SumRow<Kind, 2>
                                        : SumRow<Kind, kMaxVectors>;
      return sum(t, a[0], s, w, scales, sums);
    }
  }
  SumRows(t, tile, a, s, w, piece_ints, scales, rows, n_vectors, sums);
}

// kFloat with a scale for every run.
template <class Kind>
void RunBlocks(const IntegerTask& t, TileFunction tile, const uint8_t* const* a, const Segments& s,
               const int32_t* w, int64_t piece_ints, int64_t row, int rows, int64_t n0,
               int n_vectors) {
  Vec sums[kRows * kTileColumns / kLanes] = {};
  SumBlocks<Kind>(t, tile, a, s, w, piece_ints, t.run_scale + n0, rows, n_vectors, sums);
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = n0 + j * kLanes;
    const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    const Vec bias = t.float_bias != nullptr ? LoadFirst(t.float_bias + n, count) : Vec{};
    const Vec all = Load(t.scaled_sums + n);
    for (int m = 0; m < rows; ++m) {
      const int64_t r = (row + m) * t.row_step;
      Vec v = sums[m * n_vectors + j];
      if (t.row_zero != nullptr) v -= all * static_cast<float>(t.row_zero[r]);
      const Vec f = v * t.row_scale[r] + bias;
      StoreFirst(static_cast<float*>(t.c) + (row + m) * t.ldc + n, Clamp(f, lo, hi), count);
    }
  }
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_BLOCKS_H_
