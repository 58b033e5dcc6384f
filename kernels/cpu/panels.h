// Register tiles of the packed products, float and integer: their sizes, and how the columns of W
// are shared out over panels. For *_isa.cc only.
//
// A tile is up to kRows rows by up to kMaxVectors vectors of columns. Columns are shared out evenly
// over as few panels as kMaxVectors allows, rows likewise over as few tiles as kRows allows: 49
// rows are 7 x 7, never 6 x 8 + 1.
#ifndef TOPWORK_KERNELS_CPU_PANELS_H_
#define TOPWORK_KERNELS_CPU_PANELS_H_

#include "kernels/cpu/simd.h"

// TW_TILE_TABLE(TILE): the initializer of a table [kMaxVectors][kRows] that holds
// TILE(rows, vectors) at [vectors - 1][rows - 1].
#define TW_TILES_4(TILE, n) TILE(1, n), TILE(2, n), TILE(3, n), TILE(4, n)
#define TW_TILES_6(TILE, n) TW_TILES_4(TILE, n), TILE(5, n), TILE(6, n)
#define TW_TILES_8(TILE, n) TW_TILES_6(TILE, n), TILE(7, n), TILE(8, n)

namespace topwork {
namespace TW_ISA {
namespace {

// The accumulators, a row of W and the broadcast of A must fit the registers. NEON multiplies by a
// lane: it holds several depths of every row of A and has room for fewer accumulators. A file
// defines TW_PAIRS_OF_ROWS where NEON multiplies pairs of rows: making them takes a part of the
// time that is the smaller, the wider a tile is.
#if defined(TW_SHORT_LOOPS)
constexpr int kRows = 4, kMaxVectors = 2;
#define TW_TILE_TABLE(TILE)                        \
  {                                                \
    {TW_TILES_4(TILE, 1)}, { TW_TILES_4(TILE, 2) } \
  }
#elif defined(__AVX512F__)
constexpr int kRows = 8, kMaxVectors = 3;
#define TW_TILE_TABLE(TILE)                                               \
  {                                                                       \
    {TW_TILES_8(TILE, 1)}, {TW_TILES_8(TILE, 2)}, { TW_TILES_8(TILE, 3) } \
  }
#elif defined(TW_PAIRS_OF_ROWS)
constexpr int kRows = 6, kMaxVectors = 4;
#define TW_TILE_TABLE(TILE)                                                                      \
  {                                                                                              \
    {TW_TILES_6(TILE, 1)}, {TW_TILES_6(TILE, 2)}, {TW_TILES_6(TILE, 3)}, { TW_TILES_6(TILE, 4) } \
  }
#elif defined(__aarch64__)
constexpr int kRows = 8, kMaxVectors = 2;
#define TW_TILE_TABLE(TILE)                        \
  {                                                \
    {TW_TILES_8(TILE, 1)}, { TW_TILES_8(TILE, 2) } \
  }
#elif defined(__ARM_NEON)  // 16 registers
constexpr int kRows = 4, kMaxVectors = 2;
#define TW_TILE_TABLE(TILE)                        \
  {                                                \
    {TW_TILES_4(TILE, 1)}, { TW_TILES_4(TILE, 2) } \
  }
#else
constexpr int kRows = 6, kMaxVectors = 2;
#define TW_TILE_TABLE(TILE)                        \
  {                                                \
    {TW_TILES_6(TILE, 1)}, { TW_TILES_6(TILE, 2) } \
  }
#endif

// Columns of a vector of W. A file defines TW_COLUMNS where they are not those of a vector of sums.
#ifdef TW_COLUMNS
constexpr int kColumns = TW_COLUMNS;
#else
constexpr int kColumns = kLanes;
#endif

// Where a panel lies: its first vector of columns and its number of vectors.
struct Panel {
  int64_t vector = 0;
  int n_vectors = 0;
};

int64_t Vectors(int64_t n) { return (n + kColumns - 1) / kColumns; }

int64_t NPanels(int64_t n) { return (Vectors(n) + kMaxVectors - 1) / kMaxVectors; }

Panel PanelAt(int64_t n, int64_t index) {
  const int64_t vectors = Vectors(n), panels = NPanels(n);
  const int64_t each = vectors / panels, wider = vectors % panels;
  Panel panel;
  panel.vector = index * each + (index < wider ? index : wider);
  panel.n_vectors = static_cast<int>(each + (index < wider ? 1 : 0));
  return panel;
}

[[maybe_unused]] int64_t FirstColumn(int64_t n, int64_t index) {
  return PanelAt(n, index).vector * kColumns;
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_PANELS_H_
