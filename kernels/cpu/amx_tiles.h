// AMX's tiles for products of packed W: a register holds 16 rows of 64 bytes, and an instruction multiplies
// 16 rows of A by 16 columns of W over 16 words of depth. A word is four bytes or two bfloat16 numbers.
// W is packed as AVX-512's: the rows of its tiles are the words of a panel as they lie there.
//
// Tiles 0 to 2 are sums, 3 is A, 4 and 7 are W; 5 and 6 are A and W over the words that are left behind
// the last whole 16 of a segment. Of two tiles of rows at a time, 0 to 5 are sums, 6 is A and 7 is W.
// For *_isa.cc only.
#ifndef TOPWORK_KERNELS_CPU_AMX_TILES_H_
#define TOPWORK_KERNELS_CPU_AMX_TILES_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/panels.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTileRows = 16, kTileWords = 16, kTileBytes = 64;

// The intrinsics do not tell the compiler which memory they read and write.
TW_INLINE void FinishStores() { __asm__ volatile("" ::: "memory"); }

// What _tile_loadconfig reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles for a_rows rows of A, or for two times as many, and segments that end in words_left < 16 words.
void ConfigureTiles(int a_rows, int words_left, bool pairs = false) {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    const bool left = !pairs && (i == 5 || i == 6);
    const bool is_w = i == 7 || (!pairs && (i == 4 || i == 6));
    if (left && words_left == 0) continue;
    config.row_bytes[i] = static_cast<uint16_t>(left && !is_w ? 4 * words_left : kTileBytes);
    config.rows[i] = static_cast<uint8_t>(!is_w ? a_rows : left ? words_left : kTileWords);
  }
  FinishStores();
  _tile_loadconfig(&config);
}

// The m rows of A in tiles of one height, as many times `at_once` as it takes: what configures tiles costs as
// much as a dozen products. The last ones begin earlier where m is not a multiple, and repeat rows.
struct RowTiles {
  int64_t m, n;
  int rows;  // of each
  RowTiles(int64_t all, int at_once)
      : m(all), n((all + at_once * kTileRows - 1) / (at_once * kTileRows) * at_once) {
    rows = static_cast<int>((m + n - 1) / n);
  }
  int64_t Begin(int64_t i) const { return i * rows < m - rows ? i * rows : m - rows; }
  // The first rows of tile i that have been in tiles before.
  int Repeated(int64_t i) const {
    const int64_t repeated = i * rows - Begin(i);
    return repeated < rows ? static_cast<int>(repeated) : rows;
  }
};

// Rows of A as tiles load them.
struct Source {
  const void* data;
  ptrdiff_t step;  // bytes between rows
};

enum class TileDot { kSigned, kUnsigned, kBfloat16 };  // what A consists of; bytes of W are signed

#define TW_DOT(sums, a, w)                           \
  if constexpr (kDot == TileDot::kSigned) {          \
    _tile_dpbssd(sums, a, w);                        \
  } else if constexpr (kDot == TileDot::kUnsigned) { \
    _tile_dpbusd(sums, a, w);                        \
  } else {                                           \
    _tile_dpbf16ps(sums, a, w);                      \
  }

// Sums += 16 words of A by the kN vectors of columns at w; returns where W goes on.
template <TileDot kDot, int kN>
TW_INLINE const uint8_t* AddWhole(const Source& a, const uint8_t* w) {
  constexpr int kStep = kN * kVectorBytes;
  _tile_loadd(3, a.data, a.step);
  _tile_loadd(4, w, kStep);
  TW_DOT(0, 3, 4)
  if constexpr (kN > 1) {
    _tile_loadd(7, w + kVectorBytes, kStep);
    TW_DOT(1, 3, 7)
  }
  if constexpr (kN > 2) {
    _tile_loadd(4, w + 2 * kVectorBytes, kStep);
    TW_DOT(2, 3, 4)
  }
  return w + kTileWords * kStep;
}

// The same of the `words` that are left.
template <TileDot kDot, int kN>
TW_INLINE const uint8_t* AddLeft(const Source& a, const uint8_t* w, int words) {
  constexpr int kStep = kN * kVectorBytes;
  _tile_loadd(5, a.data, a.step);
  _tile_loadd(6, w, kStep);
  TW_DOT(0, 5, 6)
  if constexpr (kN > 1) {
    _tile_loadd(6, w + kVectorBytes, kStep);
    TW_DOT(1, 5, 6)
  }
  if constexpr (kN > 2) {
    _tile_loadd(6, w + 2 * kVectorBytes, kStep);
    TW_DOT(2, 5, 6)
  }
  return w + words * kStep;
}

// AddWhole for two tiles of rows, which takes each part of W from memory once.
template <TileDot kDot, int kN>
TW_INLINE const uint8_t* AddPair(const Source& a, const Source& next, const uint8_t* w) {
  constexpr int kStep = kN * kVectorBytes;
  _tile_loadd(6, a.data, a.step);
  _tile_loadd(7, w, kStep);
  TW_DOT(0, 6, 7)
  _tile_loadd(7, w + kVectorBytes, kStep);
  TW_DOT(1, 6, 7)
  if constexpr (kN > 2) {
    _tile_loadd(7, w + 2 * kVectorBytes, kStep);
    TW_DOT(2, 6, 7)
  }
  _tile_loadd(6, next.data, next.step);
  if constexpr (kN > 2) {
    TW_DOT(5, 6, 7)
    _tile_loadd(7, w + kVectorBytes, kStep);
  }
  TW_DOT(4, 6, 7)
  _tile_loadd(7, w, kStep);
  TW_DOT(3, 6, 7)
  return w + kTileWords * kStep;
}
#undef TW_DOT

// Every row of sums becomes the kN vectors at `begin`.
template <int kN>
TW_INLINE void BeginSums(const int32_t* begin) {
  _tile_loadd(0, begin, 0);
  if constexpr (kN > 1) _tile_loadd(1, begin + kLanes, 0);
  if constexpr (kN > 2) _tile_loadd(2, begin + 2 * kLanes, 0);
}

// The same of the second tile of rows.
template <int kN>
TW_INLINE void BeginNextSums(const int32_t* begin) {
  _tile_loadd(3, begin, 0);
  _tile_loadd(4, begin + kLanes, 0);
  if constexpr (kN > 2) _tile_loadd(5, begin + 2 * kLanes, 0);
}

// products[rows][kN * kLanes] = the sums, of 4 bytes each.
template <int kN>
TW_INLINE void StoreSums(void* products) {
  constexpr int kStep = kN * kVectorBytes;
  uint8_t* to = static_cast<uint8_t*>(products);
  _tile_stored(0, to, kStep);
  if constexpr (kN > 1) _tile_stored(1, to + kVectorBytes, kStep);
  if constexpr (kN > 2) _tile_stored(2, to + 2 * kVectorBytes, kStep);
  FinishStores();
}

template <int kN>
TW_INLINE void StoreNextSums(void* products) {
  constexpr int kStep = kN * kVectorBytes;
  uint8_t* to = static_cast<uint8_t*>(products);
  _tile_stored(3, to, kStep);
  _tile_stored(4, to + kVectorBytes, kStep);
  if constexpr (kN > 2) _tile_stored(5, to + 2 * kVectorBytes, kStep);
  FinishStores();
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_AMX_TILES_H_
