// The integer GEMM: what comes before and after its register tiles (integer_tiles.h). A tile
// leaves its sums in a buffer, from which the epilogue takes them, or ends them itself
// (integer_ended_tiles.h).
//
// With TW_ISA_BYTES_ONLY this makes products of bytes alone (avxvnni, i8mm: see cpu_kernels.h).
#if defined(TW_ISA_BYTES_ONLY) && defined(__ARM_FEATURE_MATMUL_INT8)
#define TW_PAIRS_OF_ROWS
#endif

#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_blocks.h"
#include "kernels/cpu/integer_ended_tiles.h"
#include "kernels/cpu/integer_ends.h"
#include "kernels/cpu/integer_row_sums.h"
#include "kernels/cpu/integer_tiles.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Adds the product of a piece of the depth, short enough for 32 bits, to 64-bit sums.
void AddPiece(TileFunction tile, const uint8_t* const* a, const Segments& piece, const int32_t* w,
              int64_t n, int64_t* sums) {
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  tile(a, piece, w, products);
  for (int64_t i = 0; i < n; ++i) sums[i] += products[i];
}

// Products of 16-bit values: as many whole runs at a time as fit 32 bits, or pieces of a run.
void RunWide(const IntegerTask& t, TileFunction tile, const uint8_t* const* a, const Segments& s,
             const int32_t* w, int64_t row, int rows, int64_t n0, int n_vectors) {
  int64_t sums[kRows * kTileColumns] = {};
  const int64_t width = n_vectors * kLanes, n = rows * width;
  const int64_t run_words = s.words + (s.tail > 0 ? 1 : 0);
  const int64_t at_once = run_words > kWideWords ? 0 : kWideWords / (run_words > 0 ? run_words : 1);
  for (int64_t run = 0; run < s.runs;) {
    Segments piece = s;
    piece.offsets = s.offsets + run;
    if (at_once > 0) {
      piece.runs = s.runs - run < at_once ? s.runs - run : at_once;
      AddPiece(tile, a, piece, w + run * run_words * width, n, sums);
      run += piece.runs;
      continue;
    }
    for (int64_t word = 0; word < run_words; word += kWideWords) {
      const int64_t offset = s.offsets[run] + word * 4;
      const bool last = word + kWideWords >= run_words;
      piece.offsets = &offset;
      piece.runs = 1;
      piece.words = last ? s.words - word : kWideWords;
      piece.tail = last ? s.tail : 0;
      AddPiece(tile, a, piece, w + (run * run_words + word) * width, n, sums);
    }
    ++run;
  }
  const int columns = static_cast<int>(t.n - n0 < width ? t.n - n0 : width);
  t.finish(t, sums, width, row, rows, n0, columns);
}

constexpr int kTilesAtOnce = 4;
constexpr int64_t kMostRows = 256 / kRows * kRows;  // of a block: whole tiles

// Rows [begin, end) of A, which are shared out over tiles about equally high; those that are multiplied
// in pairs stay together.
struct RowBlock {
  int64_t begin, end;
  const uint8_t* places[kMostRows];
  int64_t least;     // height of a tile
  int64_t n_taller;  // of the first tiles, which have a unit more
  int unit;

  RowBlock(const IntegerTask& t, int64_t first, int64_t last, int at_once)
      : begin(first), end(last), unit(at_once) {
    for (int64_t row = first; row < last; ++row) places[row - first] = RowOf(t, row);
    const int64_t units = (last - first + unit - 1) / unit;
    const int64_t n_tiles = (last - first + kRows - 1) / kRows;
    least = units / n_tiles * unit;
    n_taller = units % n_tiles;
  }
  // Rows of tile i, which begins with `row`.
  int Height(int64_t i, int64_t row) const {
    const int64_t high = least + (i < n_taller ? unit : 0);
    return static_cast<int>(high < end - row ? high : end - row);
  }
  // How many tiles from i on have its height.
  int64_t Alike(int64_t i, int64_t row) const {
    const int64_t whole = (end - row) / Height(i, row);
    return i < n_taller && n_taller - i < whole ? n_taller - i : whole;
  }
};

// Words of a run of W.
template <class Kind>
int64_t TaskWords(const IntegerTask& t) {
  return RunWords<Kind>(t.nibbles ? t.run_k / 2 : t.run_k);
}

// The panel that begins with column n0.
template <class Kind>
const int32_t* WeightsAt(const IntegerTask& t, int64_t n0) {
  return static_cast<const int32_t*>(t.packed) + PackedInts<Kind>(n0, t.runs * TaskWords<Kind>(t));
}

#if defined(TW_ENDS_IN_TILES)
// The block's tiles in a panel, where they EndsInTiles; false where there are no such tiles.
template <class Kind>
bool RunEndedTiles(const IntegerTask& t, const Segments& s, const RowBlock& block,
                   const Panel& panel) {
  const int64_t n0 = panel.vector * kLanes;
  const auto of = t.flip == 0 ? EndedTilesOf<typename Kind::Native> : EndedTilesOf<Kind>;
  const EndedTilesFunction* tiles = of(t, n0, panel.n_vectors);
  if (tiles == nullptr) return false;
  const int32_t* w = WeightsAt<Kind>(t, n0);
  for (int64_t row = block.begin, i = 0; row < block.end;) {
    const int rows = block.Height(i, row);
    const int64_t n_tiles = block.Alike(i, row);
    tiles[rows - 1](t, block.places + (row - block.begin), s, w, n0, n_tiles, row);
    row += n_tiles * rows;
    i += n_tiles;
  }
  return true;
}
#endif

// The block's tiles in a panel, whose weights begin at w: several leave their sums before they are ended
// together.
void RunTiles(const IntegerTask& t, const Segments& s, const RowBlock& block, const Panel& panel,
              const TileFunction* tiles, const int32_t* w, const int32_t* sums) {
  alignas(kVectorBytes) int32_t products[kTilesAtOnce * kRows * kTileColumns];
  const int64_t width = panel.n_vectors * kLanes;
  const uint8_t* const* places = block.places;
  for (int64_t row = block.begin, i = 0; row < block.end;) {
    const int64_t first = row;
    int32_t* to = products;
    for (const int64_t stop = i + kTilesAtOnce; i < stop && row < block.end; ++i) {
      const int rows = block.Height(i, row);
      tiles[rows - 1](places, s, w, to);
      to += rows * width;
      places += rows;
      row += rows;
    }
    EndTiles(t, products, sums, first, static_cast<int>(row - first), panel.vector * kLanes,
             panel.n_vectors);
  }
}

template <class Kind>
void RunPanel(const IntegerTask& t, const Segments& s, const RowBlock& block, const Panel& panel) {
  const int64_t n0 = panel.vector * kLanes;
  const int32_t* w = WeightsAt<Kind>(t, n0);
  const TileFunction* tiles = t.flip == 0
                                  ? Tiles<typename Kind::Native>::kTable[panel.n_vectors - 1]
                                  : Tiles<Kind>::kTable[panel.n_vectors - 1];
  const bool is_wide = Kind::kPackedSize == 2 && t.epilogue == IntegerEpilogue::kWide;
  const bool has_blocks = kWeightBytes<Kind> >= 4 && t.run_scale != nullptr;
  if (!is_wide && !has_blocks) {
    const int32_t* sums = Sums<Kind>(t.packed, t.n, t.runs, t.run_k);
    return RunTiles(t, s, block, panel, tiles, w, sums);
  }
  for (int64_t row = block.begin, i = 0; row < block.end; ++i) {
    const int rows = block.Height(i, row);
    const uint8_t* const* a = block.places + (row - block.begin);
    if (is_wide) {
      RunWide(t, tiles[rows - 1], a, s, w, row, rows, n0, panel.n_vectors);
    } else {
      const int64_t ints = PackedInts<Kind>(panel.n_vectors * kLanes, TaskWords<Kind>(t));
      RunBlocks<Kind>(t, tiles[rows - 1], a, s, w, ints, row, rows, n0, panel.n_vectors);
    }
    row += rows;
  }
}

template <class Kind>
void Run(const IntegerTask& t) {
  if (t.m <= 0) return;
  Segments s;
  const int64_t no_offset = 0;
  s.offsets = t.run_offsets != nullptr ? t.run_offsets : &no_offset;
  s.runs = t.runs;
  s.words = t.over_read ? RunWords<Kind>(t.run_k) : t.run_k / Kind::kGroup;
  s.pairs = t.run_k / Kind::kGroup / 2;
  s.tail = t.over_read ? 0 : static_cast<int>(t.run_k % Kind::kGroup) * Kind::kSize;
  StoreInts(s.flip, Broadcast(static_cast<int32_t>(t.flip * 0x01010101u)));
#if defined(TW_ENDS_IN_TILES)
  [[maybe_unused]] const bool in_tiles = EndsInTiles(t, s);
#endif
  const int64_t n_blocks = (t.m + kMostRows - 1) / kMostRows;
  const int64_t rows = ((t.m + n_blocks - 1) / n_blocks + kRows - 1) / kRows * kRows;
  for (int64_t row = 0; row < t.m; row += rows) {
    const RowBlock block(t, row, row + rows < t.m ? row + rows : t.m, Kind::kPaired ? 2 : 1);
    for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
      const Panel panel = PanelAt(t.n, p);
#if defined(TW_ENDS_IN_TILES)
      if constexpr (Kind::kPackedSize == 1) {
        if (in_tiles && RunEndedTiles<Kind>(t, s, block, panel)) continue;
      }
#endif
      RunPanel<Kind>(t, s, block, panel);
    }
  }
}

#if defined(TW_HAVE_DOT_BYTES)
// For products that other instructions make (integer_amx_isa.cc).
void EndOfBytes(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
                int n_vectors) {
  EndTiles(t, products, Sums<Bytes>(t.packed, t.n, t.runs, t.run_k), row, rows, n0, n_vectors);
}
#endif

}  // namespace

#if !defined(TW_ISA_BYTES_ONLY)
extern const IntegerGemm kIntegerInt16;
const IntegerGemm kIntegerInt16 = {"gemm i16 " TW_STRING(TW_ISA),
                                   false,
                                   false,
                                   Int16s::kGroup,
                                   kRows,
                                   kTileColumns,
                                   NPanels,
                                   FirstColumn,
                                   PackedBytes<Int16s>,
                                   Pack<Int16s>,
                                   Sums<Int16s>,
                                   Run<Int16s>,
                                   nullptr,
                                   nullptr};
#endif
#if defined(TW_HAVE_NARROW_WEIGHTS)
extern const IntegerGemm kIntegerNarrow;
const IntegerGemm kIntegerNarrow = {"gemm i16 by i8 " TW_STRING(TW_ISA),
                                    false,
                                    false,
                                    NarrowInt16s::kGroup,
                                    kRows,
                                    kTileColumns,
                                    NPanels,
                                    FirstColumn,
                                    PackedBytes<NarrowInt16s>,
                                    Pack<NarrowInt16s>,
                                    Sums<NarrowInt16s>,
                                    Run<NarrowInt16s>,
                                    nullptr,
                                    nullptr};
#endif
#if defined(TW_HAVE_DOT_BYTES)
extern const IntegerGemm kIntegerBytes;
const IntegerGemm kIntegerBytes = {"gemm i8 " TW_STRING(TW_ISA),
                                   true,
                                   !Bytes::kPaired,
                                   Bytes::kGroup,
                                   kRows,
                                   kTileColumns,
                                   NPanels,
                                   FirstColumn,
                                   PackedBytes<Bytes>,
                                   Pack<Bytes>,
                                   Sums<Bytes>,
                                   Run<Bytes>,
                                   EndOfBytes,
                                   RowSums};
#endif

}  // namespace TW_ISA
}  // namespace topwork
