// The packed GEMM's register tiles: kRows x (up to kMaxVectors vectors) accumulators held in
// registers over the whole depth. Included by the files that say how a tile multiplies: they define
// Accumulate.
//
// A and W are words of 4 bytes here: a float32 (gemm_isa.cc), or two 16-bit numbers of neighbouring
// depths (gemm_half_isa.cc). All lengths of a task along k count words. A column of W has one word
// for each of A; how the words of a vector of columns lie, Accumulate knows.
#ifndef TOPWORK_KERNELS_CPU_GEMM_TILES_H_
#define TOPWORK_KERNELS_CPU_GEMM_TILES_H_

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/simd.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace TW_ISA {
namespace {

// acc += A * W over `depth` words of every row; returns where W goes on. T is what W's words are
// stored as.
template <class T, int kM, int kN>
TW_INLINE const T* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const T* w,
                              int64_t depth);

// One register tile: rows [row, row + kM) of A and columns [n0, n0 + kN * kLanes), all inside C and
// without a residual.
template <class T, int kM, int kN>
void Tile(const GemmTask& t, const void* panel, int64_t row, int64_t n0) {
  const float* a[kM];
  Vec acc[kM][kN];
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
    a[m] = m == 0 ? t.a + row * t.lda : a[m - 1] + t.lda;
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = Vec{};
  }
  const T* w = static_cast<const T*>(panel) + t.first_k * kN * kLanes;
  for (int64_t run = 0; run < t.runs; ++run) {
    w = Accumulate<T, kM, kN>(acc, a, w, t.run_k) + t.run_skip * kN * kLanes;
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) a[m] += t.run_stride;
  }
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  Vec bias[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) bias[j] = t.bias != nullptr ? Load(t.bias + n0 + j * kLanes) : Vec{};
  const int64_t ldc = t.ldc;
  float* out = t.c + row * ldc + n0;
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m, out += ldc) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) Store(out + j * kLanes, Clamp(acc[m][j] + bias[j], lo, hi));
  }
}

// W is that of its panel.
using TileFunction = void (*)(const GemmTask&, const void* w, int64_t row, int64_t n0);

constexpr int kSums = kColumns / kLanes;  // vectors of sums for each vector of columns

// kTable[vectors - 1][rows - 1].
template <class T>
struct Tiles {
  static const TileFunction kTable[kMaxVectors][kRows];
};

#define TW_TILE(rows, vectors) Tile<T, rows, vectors * kSums>
template <class T>
const TileFunction Tiles<T>::kTable[kMaxVectors][kRows] = TW_TILE_TABLE(TW_TILE);
#undef TW_TILE

// Ends rows [row, row + rows) of n_vectors vectors of columns from n0 on, whose bare products these are:
// bias, residual and clamp.
void EndRows(const GemmTask& t, const float* products, int64_t row, int rows, int64_t n0,
             int n_vectors) {
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int j = 0; j < n_vectors && n0 + j * kLanes < t.n; ++j) {
    const int64_t n = n0 + j * kLanes;
    const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    const Vec bias = t.bias != nullptr ? LoadFirst(t.bias + n, count) : Vec{};
    for (int m = 0; m < rows; ++m) {
      Vec v = Load(products + (m * n_vectors + j) * kLanes) + bias;
      if (t.residual != nullptr) v += LoadFirst(t.residual + (row + m) * t.ldr + n, count);
      StoreFirst(t.c + (row + m) * t.ldc + n, Clamp(v, lo, hi), count);
    }
  }
}

#if !defined(TW_AMX)
// A tile whose columns end inside a vector, or that has a residual: the bare products go to a
// buffer. n_vectors is that of a row's sums.
void GeneralTile(const GemmTask& t, TileFunction tile, const void* w, int64_t row, int rows,
                 int64_t n0, int n_vectors) {
  alignas(kVectorBytes) float products[kRows * kMaxVectors * kColumns];
  GemmTask bare = t;
  bare.a = t.a + row * t.lda;
  bare.bias = nullptr;
  bare.c = products;
  bare.ldc = n_vectors * kLanes;
  bare.lo = -__builtin_inff();
  bare.hi = __builtin_inff();
  tile(bare, w, 0, 0);
  EndRows(t, products, row, rows, n0, n_vectors);
}
#endif

// Where the task's panel p lies, whose words take word_bytes each.
TW_INLINE const void* PanelOf(const GemmTask& task, int64_t p, size_t word_bytes) {
  const int64_t words = PanelAt(task.n, p).vector * kColumns * task.k;
  return reinterpret_cast<const uint8_t*>(task.packed) + static_cast<size_t>(words) * word_bytes;
}

#if !defined(TW_AMX)
// All rows of the task by panel p, which lies at w, by a table of Tiles<T>; run_k is set.
void RunPanel(const GemmTask& task, const TileFunction (&table)[kMaxVectors][kRows], int64_t p,
              const void* w) {
  const int64_t n_tiles = (task.m + kRows - 1) / kRows;
  const int64_t each = task.m / n_tiles, taller = task.m % n_tiles;
  const Panel panel = PanelAt(task.n, p);
  const int64_t n0 = panel.vector * kColumns;
  const TileFunction* tiles = table[panel.n_vectors - 1];
  const bool general = task.residual != nullptr || n0 + panel.n_vectors * kColumns > task.n;
  int64_t row = 0;
  for (int64_t i = 0; i < n_tiles; ++i) {
    const int rows = static_cast<int>(each + (i < taller ? 1 : 0));
    if (general) {
      GeneralTile(task, tiles[rows - 1], w, row, rows, n0, panel.n_vectors * kSums);
    } else {
      tiles[rows - 1](task, w, row, n0);
    }
    row += rows;
  }
}

// The whole task.
template <class T>
void RunTiles(const GemmTask& task) {
  for (int64_t p = task.panel_begin; p < task.panel_end; ++p) {
    RunPanel(task, Tiles<T>::kTable, p, PanelOf(task, p, sizeof(T)));
  }
}
#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_TILES_H_
