// AMX's tiles as plain loops, for the twins "amx_emulated" and "amxbf16_emulated" (cpu_tables.h): the
// compiler includes this file before those of the library, whose intrinsics then end here.
#ifndef TOPWORK_TESTS_SUPPORT_EMULATED_TILES_H_
#define TOPWORK_TESTS_SUPPORT_EMULATED_TILES_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

struct EmulatedTiles {
  uint8_t bytes[8][16][64];
  uint16_t row_bytes[8];
  uint8_t rows[8];

  void Configure(const void* memory) {
    const uint8_t* config = static_cast<const uint8_t*>(memory);
    __builtin_memset(bytes, 0, sizeof(bytes));
    __builtin_memcpy(row_bytes, config + 16, sizeof(row_bytes));
    __builtin_memcpy(rows, config + 48, sizeof(rows));
  }
  void Load(int tile, const void* memory, ptrdiff_t step) {
    for (int r = 0; r < rows[tile]; ++r) {
      __builtin_memset(bytes[tile][r], 0, 64);
      __builtin_memcpy(bytes[tile][r], static_cast<const uint8_t*>(memory) + r * step,
                       row_bytes[tile]);
    }
  }
  void Store(int tile, void* memory, ptrdiff_t step) const {
    for (int r = 0; r < rows[tile]; ++r) {
      __builtin_memcpy(static_cast<uint8_t*>(memory) + r * step, bytes[tile][r], row_bytes[tile]);
    }
  }
  // A: the type of a's bytes; w's are signed.
  template <typename A>
  void Dot(int sums, int a, int w) {
    for (int m = 0; m < rows[sums]; ++m) {
      int32_t row[16];
      __builtin_memcpy(row, bytes[sums][m], sizeof(row));
      for (int k = 0; k < row_bytes[a]; ++k) {
        const int32_t left = static_cast<A>(bytes[a][m][k]);
        const uint8_t* words = bytes[w][k / 4] + k % 4;
        for (int n = 0; n < row_bytes[sums] / 4; ++n) {
          row[n] += left * static_cast<int8_t>(words[4 * n]);
        }
      }
      __builtin_memcpy(bytes[sums][m], row, row_bytes[sums]);
    }
  }

  static float Widen(uint32_t bfloat16) {
    const uint32_t bits = bfloat16 << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
  }
  // Of words of two bfloat16 numbers.
  void DotBfloat16(int sums, int a, int w) {
    for (int m = 0; m < rows[sums]; ++m) {
      for (int n = 0; n < row_bytes[sums] / 4; ++n) {
        float sum;
        __builtin_memcpy(&sum, &bytes[sums][m][4 * n], sizeof(sum));
        for (int k = 0; k < row_bytes[a] / 4; ++k) {
          uint32_t left, right;
          __builtin_memcpy(&left, &bytes[a][m][4 * k], sizeof(left));
          __builtin_memcpy(&right, &bytes[w][k][4 * n], sizeof(right));
          sum +=
              Widen(left & 0xffff) * Widen(right & 0xffff) + Widen(left >> 16) * Widen(right >> 16);
        }
        __builtin_memcpy(&bytes[sums][m][4 * n], &sum, sizeof(sum));
      }
    }
  }
};

thread_local EmulatedTiles emulated_tiles;

}  // namespace

#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbusd
#undef _tile_dpbf16ps
#define _tile_loadconfig(config) emulated_tiles.Configure(config)
#define _tile_loadd(tile, memory, step) emulated_tiles.Load(tile, memory, step)
#define _tile_stored(tile, memory, step) emulated_tiles.Store(tile, memory, step)
#define _tile_dpbssd(sums, a, w) emulated_tiles.Dot<int8_t>(sums, a, w)
#define _tile_dpbusd(sums, a, w) emulated_tiles.Dot<uint8_t>(sums, a, w)
#define _tile_dpbf16ps(sums, a, w) emulated_tiles.DotBfloat16(sums, a, w)
#define _tile_release() static_cast<void>(0)

#endif  // TOPWORK_TESTS_SUPPORT_EMULATED_TILES_H_
