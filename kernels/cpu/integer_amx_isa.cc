// The integer GEMM on AMX's tiles: a register holds 16 rows of 64 bytes, and an instruction multiplies
// 16 rows of A by 16 columns of W over 64 values of depth.
//
// W is packed by the base, AVX-512: a tile's rows are the words of a panel as they lie there. The base
// also computes what tiles do not pay for or do not fit: few rows, a single vector of columns, whose
// words lie in pairs, segments that end inside a word, and scales of runs.
#include <immintrin.h>

#include "kernels/cpu/integer.h"
#include "kernels/cpu/panels.h"

namespace topwork {

namespace avx512 {
extern const IntegerGemm kIntegerBytes;
}

namespace TW_ISA {
namespace {

constexpr int kTileRows = 16, kTileWords = 16, kTileBytes = 64;
constexpr int64_t kLeastRows = 8;

// What _tile_loadconfig reads. Tiles 0 to 2 are sums, 3 is A, 4 and 7 are W; 5 and 6 are A and W over
// the words that are left behind the last whole 16 of a segment.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  TileConfig(int a_rows, int words_left) {
    for (int i = 0; i < 8; ++i) {
      const bool left = i == 5 || i == 6, is_w = i == 4 || i == 6 || i == 7;
      if (left && words_left == 0) continue;
      row_bytes[i] = static_cast<uint16_t>(i == 5 ? 4 * words_left : kTileBytes);
      rows[i] = static_cast<uint8_t>(i == 6 ? words_left : is_w ? kTileWords : a_rows);
    }
  }
};

// The intrinsics do not tell the compiler which memory they read.
TW_INLINE void FinishStores() { __asm__ volatile("" ::: "memory"); }

// Up to 16 rows of A.
struct Rows {
  const uint8_t* a[kTileRows];
  int n = 0;
  ptrdiff_t step = 0;  // between rows, or 0: they lie anywhere
};

Rows RowsOf(const IntegerTask& t, int64_t row, int n) {
  Rows rows;
  rows.n = n;
  for (int m = 0; m < n; ++m) {
    rows.a[m] = t.a + (t.row_offsets != nullptr ? t.row_offsets[row + m] : (row + m) * t.lda);
  }
  rows.step = n > 1 ? rows.a[1] - rows.a[0] : kTileBytes;
  for (int m = 2; m < n; ++m) {
    if (rows.a[m] - rows.a[m - 1] != rows.step) rows.step = 0;
  }
  return rows;
}

// `bytes` of each row, `offset` behind its begin: where tiles may load them, and how far apart.
struct Source {
  const uint8_t* data;
  ptrdiff_t step;
};
TW_INLINE Source Gather(const Rows& rows, int64_t offset, int bytes, uint8_t* buffer) {
  if (rows.step != 0) return {rows.a[0] + offset, rows.step};
  const __mmask64 mask = ~uint64_t{0} >> (kTileBytes - bytes);
  for (int m = 0; m < rows.n; ++m) {
    _mm512_store_si512(buffer + m * kTileBytes, _mm512_maskz_loadu_epi8(mask, rows.a[m] + offset));
  }
  FinishStores();
  return {buffer, kTileBytes};
}

// kSigned: A has signed bytes, else unsigned ones.
#define TW_DOT(sums, a, w)    \
  if constexpr (kSigned) {    \
    _tile_dpbssd(sums, a, w); \
  } else {                    \
    _tile_dpbusd(sums, a, w); \
  }

// Tiles 0 to kN - 1 += the tile of A by the kN vectors of columns at w.
template <bool kSigned, int kN>
TW_INLINE void AddWhole(const Source& a, const int32_t* w) {
  constexpr int kStep = kN * kVectorBytes;
  _tile_loadd(3, a.data, a.step);
  _tile_loadd(4, w, kStep);
  TW_DOT(0, 3, 4)
  _tile_loadd(7, w + kLanes, kStep);
  TW_DOT(1, 3, 7)
  if constexpr (kN == 3) {
    _tile_loadd(4, w + 2 * kLanes, kStep);
    TW_DOT(2, 3, 4)
  }
}

template <bool kSigned, int kN>
TW_INLINE void AddLeft(const Source& a, const int32_t* w) {
  constexpr int kStep = kN * kVectorBytes;
  _tile_loadd(5, a.data, a.step);
  _tile_loadd(6, w, kStep);
  TW_DOT(0, 5, 6)
  _tile_loadd(6, w + kLanes, kStep);
  TW_DOT(1, 5, 6)
  if constexpr (kN == 3) {
    _tile_loadd(6, w + 2 * kLanes, kStep);
    TW_DOT(2, 5, 6)
  }
}
#undef TW_DOT

// What a segment of A consists of.
struct Depth {
  int64_t whole = 0;  // times 16 words
  int left = 0;       // words
};

// products[rows.n][kN * kLanes] = A * W. The base takes signed bytes as unsigned ones that are 128 larger:
// `begin`, 128 times the sums of W's columns, is the difference.
template <bool kSigned, int kN>
void Multiply(const IntegerTask& t, const Rows& rows, const Depth& depth, const int32_t* w,
              const int32_t* begin, int32_t* products) {
  constexpr int kStep = kN * kVectorBytes;
  alignas(64) uint8_t buffer[kTileRows * kTileBytes];
  _tile_loadd(0, begin, 0);
  _tile_loadd(1, begin + kLanes, 0);
  if constexpr (kN == 3) _tile_loadd(2, begin + 2 * kLanes, 0);
  for (int64_t run = 0; run < t.runs; ++run) {
    int64_t offset = t.run_offsets != nullptr ? t.run_offsets[run] : 0;
    for (int64_t i = 0; i < depth.whole; ++i, offset += kTileBytes) {
      AddWhole<kSigned, kN>(Gather(rows, offset, kTileBytes, buffer), w);
      w += kTileWords * kN * kLanes;
    }
    if (depth.left > 0) {
      AddLeft<kSigned, kN>(Gather(rows, offset, 4 * depth.left, buffer), w);
      w += depth.left * kN * kLanes;
    }
  }
  _tile_stored(0, products, kStep);
  _tile_stored(1, products + kLanes, kStep);
  if constexpr (kN == 3) _tile_stored(2, products + 2 * kLanes, kStep);
}

using MultiplyFunction = void (*)(const IntegerTask&, const Rows&, const Depth&, const int32_t*,
                                  const int32_t*, int32_t*);

MultiplyFunction MultiplyOf(bool is_signed, int n_vectors) {
  if (is_signed) return n_vectors == 2 ? Multiply<true, 2> : Multiply<true, 3>;
  return n_vectors == 2 ? Multiply<false, 2> : Multiply<false, 3>;
}

// The panel's columns of all rows, as tiles of about equal height.
void RunPanel(const IntegerTask& t, const Panel& panel, const Depth& depth) {
  const int64_t n0 = panel.vector * kLanes, width = panel.n_vectors * kLanes;
  const int64_t words = t.runs * (depth.whole * kTileWords + depth.left);
  const int32_t* w = static_cast<const int32_t*>(t.packed) + n0 * words;
  const int32_t* sums = avx512::kIntegerBytes.sums(t.packed, t.n, t.runs, t.run_k) + n0;
  alignas(64) int32_t begin[kMaxVectors * kLanes] = {};
  if (t.flip != 0) {
    for (int64_t i = 0; i < width; ++i) begin[i] = 128 * sums[i];
  }
  const MultiplyFunction multiply = MultiplyOf(t.flip != 0, panel.n_vectors);
  alignas(64) int32_t products[kTileRows * kMaxVectors * kLanes];
  const int64_t n_tiles = (t.m + kTileRows - 1) / kTileRows;
  int64_t row = 0;
  int high = 0;
  for (int64_t i = 0; i < n_tiles; ++i) {
    const int rows = static_cast<int>(t.m / n_tiles + (i < t.m % n_tiles ? 1 : 0));
    if (rows != high) {
      const TileConfig config(rows, depth.left);
      FinishStores();
      _tile_loadconfig(&config);
      high = rows;
    }
    FinishStores();
    multiply(t, RowsOf(t, row, rows), depth, w, begin, products);
    FinishStores();
    avx512::kIntegerBytes.end(t, products, row, rows, n0, panel.n_vectors);
    row += rows;
  }
}

void Run(const IntegerTask& t) {
  const int64_t words = t.over_read ? (t.run_k + 3) / 4 : t.run_k / 4;
  const bool fits = !t.nibbles && t.run_scale == nullptr && (t.over_read || t.run_k % 4 == 0);
  if (!fits || t.m < kLeastRows) return avx512::kIntegerBytes.run(t);
  Depth depth;
  depth.whole = words / kTileWords;
  depth.left = static_cast<int>(words % kTileWords);
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const Panel panel = PanelAt(t.n, p);
    if (panel.n_vectors > 1) {
      RunPanel(t, panel, depth);
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
void RowSums(const IntegerTask& task, int32_t* out) { avx512::kIntegerBytes.row_sums(task, out); }

}  // namespace

extern const IntegerGemm kIntegerBytes;
const IntegerGemm kIntegerBytes = {"gemm i8 avx512",  // packed as there
                                   true,
                                   true,
                                   4,
                                   kTileRows,
                                   kMaxVectors* kLanes,
                                   NPanels,
                                   PackedBytes,
                                   Pack,
                                   Sums,
                                   Run,
                                   nullptr,
                                   RowSums};

}  // namespace TW_ISA
}  // namespace topwork
