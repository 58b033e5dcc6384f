// The integer GEMM on AMX's tiles (amx_tiles.h). Weights are packed by the base, AVX-512, which also
// computes what tiles do not pay for or do not fit: few rows, a single vector of columns, whose words lie
// in pairs, segments that end inside a word, and scales of runs.
#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/integer.h"

namespace topwork {

namespace avx512 {
extern const IntegerGemm kIntegerBytes;
}

namespace TW_ISA {
namespace {

constexpr int64_t kLeastRows = 8;
// Two tiles of rows at a time pay where a panel of W and what is beside it leave the first-level cache.
constexpr int64_t kLeastPanelBytes = int64_t{64} << 10;

// Up to 16 rows of A.
struct Rows {
  const uint8_t* a[kTileRows];  // only the first where there is a step
  int n = 0;
  ptrdiff_t step = 0;  // between rows, or 0: they lie anywhere
};

Rows RowsOf(const IntegerTask& t, int64_t row, int n) {
  Rows rows;
  rows.n = n;
  if (t.row_offsets == nullptr && t.lda != 0) {
    rows.a[0] = t.a + row * t.lda;
    rows.step = t.lda;
    return rows;
  }
  for (int m = 0; m < n; ++m) {
    rows.a[m] = t.a + (t.row_offsets != nullptr ? t.row_offsets[row + m] : (row + m) * t.lda);
  }
  rows.step = n > 1 ? rows.a[1] - rows.a[0] : kTileBytes;
  for (int m = 2; m < n; ++m) {
    if (rows.a[m] - rows.a[m - 1] != rows.step) rows.step = 0;
  }
  return rows;
}

// `bytes` of each row, `offset` behind its begin.
TW_INLINE Source Gather(const Rows& rows, int64_t offset, int bytes, uint8_t* buffer) {
  if (rows.step != 0) return {rows.a[0] + offset, rows.step};
  const __mmask64 mask = ~uint64_t{0} >> (kTileBytes - bytes);
  for (int m = 0; m < rows.n; ++m) {
    _mm512_store_si512(buffer + m * kTileBytes, _mm512_maskz_loadu_epi8(mask, rows.a[m] + offset));
  }
  FinishStores();
  return {buffer, kTileBytes};
}

// What a segment of A consists of.
struct Depth {
  int64_t whole = 0;  // times 16 words
  int left = 0;       // words
};

// products[rows.n][kN * kLanes] = A * W. The base takes signed bytes as unsigned ones that are 128
// larger: `begin`, 128 times the sums of W's columns, is the difference.
template <TileDot kDot, int kN>
void Multiply(const IntegerTask& t, const Rows& rows, const Depth& depth, const uint8_t* w,
              const int32_t* begin, int32_t* products) {
  alignas(64) uint8_t buffer[kTileRows * kTileBytes];
  BeginSums<kN>(begin);
  for (int64_t run = 0; run < t.runs; ++run) {
    int64_t offset = t.run_offsets != nullptr ? t.run_offsets[run] : 0;
    for (int64_t i = 0; i < depth.whole; ++i, offset += kTileBytes) {
      w = AddWhole<kDot, kN>(Gather(rows, offset, kTileBytes, buffer), w);
    }
    if (depth.left > 0) {
      const Source left = Gather(rows, offset, 4 * depth.left, buffer);
      w = AddLeft<kDot, kN>(left, w, depth.left);
    }
  }
  StoreSums<kN>(products);
}

// The same for two tiles of as many rows; nothing is left behind whole words of the segments.
template <TileDot kDot, int kN>
void MultiplyPair(const IntegerTask& t, const Rows& rows, const Rows& next, const Depth& depth,
                  const uint8_t* w, const int32_t* begin, int32_t* products) {
  alignas(64) uint8_t buffers[2][kTileRows * kTileBytes];
  BeginSums<kN>(begin);
  BeginNextSums<kN>(begin);
  for (int64_t run = 0; run < t.runs; ++run) {
    int64_t offset = t.run_offsets != nullptr ? t.run_offsets[run] : 0;
    for (int64_t i = 0; i < depth.whole; ++i, offset += kTileBytes) {
      w = AddPair<kDot, kN>(Gather(rows, offset, kTileBytes, buffers[0]),
                            Gather(next, offset, kTileBytes, buffers[1]), w);
    }
  }
  StoreSums<kN>(products);
  StoreNextSums<kN>(products + rows.n * kN * kLanes);
}

using MultiplyFunction = void (*)(const IntegerTask&, const Rows&, const Depth&, const uint8_t*,
                                  const int32_t*, int32_t*);

using PairFunction = void (*)(const IntegerTask&, const Rows&, const Rows&, const Depth&,
                              const uint8_t*, const int32_t*, int32_t*);

template <TileDot kDot>
PairFunction PairOf(int n_vectors) {
  return n_vectors == 2 ? MultiplyPair<kDot, 2> : MultiplyPair<kDot, 3>;
}

template <TileDot kDot>
MultiplyFunction MultiplyOf(int n_vectors) {
  return n_vectors == 2 ? Multiply<kDot, 2> : Multiply<kDot, 3>;
}

// What lies behind a panel, of which parts are taken to the second-level cache beside the work on it.
class Ahead {
 public:
  Ahead(const uint8_t* panel, int64_t bytes, int64_t m, bool is_last)
      : at_(panel + bytes), end_(at_ + (is_last ? 0 : bytes)), share_(bytes * kTileRows / m) {}

  void Fetch(int n_tiles) {
    const uint8_t* stop = at_ + n_tiles * share_;
    if (stop > end_) stop = end_;
    for (; at_ < stop; at_ += kTileBytes) {
      _mm_prefetch(reinterpret_cast<const char*>(at_), _MM_HINT_T1);
    }
  }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
  const int64_t share_;  // of a tile of rows
};

// What a panel is multiplied by.
struct PanelTask {
  const IntegerTask& t;
  const Depth& depth;
  int64_t n0;
  int n_vectors;
  const uint8_t* w;
  int64_t bytes;
  bool is_last;  // of the task
  const int32_t* begin;
};

// Results of a tile's sums, but for the rows that have theirs.
void End(const PanelTask& p, const RowTiles& tiles, int64_t i, const int32_t* products) {
  const int repeated = tiles.Repeated(i);
  if (repeated == tiles.rows) return;
  avx512::kIntegerBytes.end(p.t, products + repeated * p.n_vectors * kLanes,
                            tiles.Begin(i) + repeated, tiles.rows - repeated, p.n0, p.n_vectors);
}

void RunTiles(const PanelTask& p, const RowTiles& tiles) {
  const IntegerTask& t = p.t;
  const MultiplyFunction multiply = t.flip != 0 ? MultiplyOf<TileDot::kSigned>(p.n_vectors)
                                                : MultiplyOf<TileDot::kUnsigned>(p.n_vectors);
  alignas(64) int32_t products[kTileRows * kMaxVectors * kLanes];
  for (int64_t i = 0; i < tiles.n; ++i) {
    multiply(t, RowsOf(t, tiles.Begin(i), tiles.rows), p.depth, p.w, p.begin, products);
    End(p, tiles, i, products);
  }
}

void RunPairs(const PanelTask& p, const RowTiles& tiles) {
  const IntegerTask& t = p.t;
  const PairFunction pair =
      t.flip != 0 ? PairOf<TileDot::kSigned>(p.n_vectors) : PairOf<TileDot::kUnsigned>(p.n_vectors);
  alignas(64) int32_t products[2 * kTileRows * kMaxVectors * kLanes];
  Ahead ahead(p.w, p.bytes, t.m, p.is_last);
  for (int64_t i = 0; i < tiles.n; i += 2) {
    ahead.Fetch(2);
    pair(t, RowsOf(t, tiles.Begin(i), tiles.rows), RowsOf(t, tiles.Begin(i + 1), tiles.rows),
         p.depth, p.w, p.begin, products);
    End(p, tiles, i, products);
    End(p, tiles, i + 1, products + tiles.rows * p.n_vectors * kLanes);
  }
}

// The panel's columns of all rows. `configured`: for which of both ways tiles are, or -1.
void RunPanel(const IntegerTask& t, const Panel& panel, const Depth& depth, bool is_last,
              int* configured) {
  const int64_t n0 = panel.vector * kLanes, width = panel.n_vectors * kLanes;
  const int64_t words = t.runs * (depth.whole * kTileWords + depth.left), bytes = width * words * 4;
  const uint8_t* w = static_cast<const uint8_t*>(t.packed) + n0 * words * 4;
  const int32_t* sums = avx512::kIntegerBytes.sums(t.packed, t.n, t.runs, t.run_k) + n0;
  alignas(64) int32_t begin[kMaxVectors * kLanes] = {};
  if (t.flip != 0) {
    for (int64_t i = 0; i < width; ++i) begin[i] = 128 * sums[i];
  }
  const PanelTask task = {t, depth, n0, panel.n_vectors, w, bytes, is_last, begin};
  const bool pairs = depth.left == 0 && bytes >= kLeastPanelBytes && t.m > kTileRows;
  const RowTiles tiles(t.m, pairs ? 2 : 1);
  if (*configured != static_cast<int>(pairs)) ConfigureTiles(tiles.rows, depth.left, pairs);
  *configured = static_cast<int>(pairs);
  pairs ? RunPairs(task, tiles) : RunTiles(task, tiles);
}

Depth DepthOf(int64_t words) {
  Depth depth;
  depth.whole = words / kTileWords;
  depth.left = static_cast<int>(words % kTileWords);
  return depth;
}

void Run(const IntegerTask& t) {
  const int64_t words = t.over_read ? (t.run_k + 3) / 4 : t.run_k / 4;
  const bool fits = !t.nibbles && t.run_scale == nullptr && (t.over_read || t.run_k % 4 == 0);
  if (!fits || t.m < kLeastRows) return avx512::kIntegerBytes.run(t);
  const Depth depth = DepthOf(words);
  int configured = -1;
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const Panel panel = PanelAt(t.n, p);
    if (panel.n_vectors > 1) {
      RunPanel(t, panel, depth, p + 1 == t.panel_end, &configured);
      continue;
    }
    IntegerTask narrow = t;
    narrow.panel_begin = p;
    narrow.panel_end = p + 1;
    avx512::kIntegerBytes.run(narrow);
  }
  _tile_release();
}

size_t PackedBytes(int64_t n, int64_t runs, int64_t run_k) {
  return avx512::kIntegerBytes.packed_bytes(n, runs, run_k);
}
void Pack(const IntegerWeights& weights, int64_t panel_begin, int64_t panel_end, void* packed) {
  avx512::kIntegerBytes.pack(weights, panel_begin, panel_end, packed);
}
const int32_t* Sums(const void* packed, int64_t n, int64_t runs, int64_t run_k) {
  return avx512::kIntegerBytes.sums(packed, n, runs, run_k);
}

void RowSums(const IntegerTask& t, int32_t* out) { avx512::kIntegerBytes.row_sums(t, out); }

}  // namespace

extern const IntegerGemm kIntegerBytes;
const IntegerGemm kIntegerBytes = {"gemm i8 avx512",  // packed as there
                                   true,
                                   true,
                                   4,
                                   kTileRows,
                                   kMaxVectors* kLanes,
                                   NPanels,
                                   FirstColumn,
                                   PackedBytes,
                                   Pack,
                                   Sums,
                                   Run,
                                   nullptr,
                                   RowSums};

}  // namespace TW_ISA
}  // namespace topwork
