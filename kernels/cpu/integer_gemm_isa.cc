// The integer GEMM's register tiles. A word is 32 bits of depth: four bytes or two halves; a tile
// broadcasts the words of kM rows of A against up to kMaxVectors vectors of W's words, and leaves
// its sums in a buffer from which the ending takes them.
//
// Packed W: [panel][word][vector][lane], then the sums of W's rows as int32, padded to whole
// vectors; the depth is padded with zeros to whole words.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRows = 8, kMaxVectors = 3;
#elif defined(__aarch64__)
constexpr int kRows = 8, kMaxVectors = 2;
#else
constexpr int kRows = 6, kMaxVectors = 2;
#endif
constexpr int kTileColumns = kMaxVectors * kLanes;

// Depth whose products of 16-bit A and 8-bit W still fit 32 bits, in words.
constexpr int64_t kWideWords = 255;

#if defined(TW_HAVE_DOT_BYTES)
struct Bytes {
  static constexpr int kGroup = 4;
  static constexpr int kSize = 1;  // bytes of a value of A
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec flip) { return DotBytes(acc, a ^ flip, w); }
};
#endif

struct Halves {
  static constexpr int kGroup = 2;
  static constexpr int kSize = 2;
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotHalves(acc, a, w); }
};

struct Panel {
  int64_t vector = 0;
  int n_vectors = 0;
};

int64_t Vectors(int64_t n) { return (n + kLanes - 1) / kLanes; }
int64_t NPanels(int64_t n) { return (Vectors(n) + kMaxVectors - 1) / kMaxVectors; }

Panel PanelAt(int64_t n, int64_t index) {
  const int64_t vectors = Vectors(n), panels = NPanels(n);
  const int64_t each = vectors / panels, wider = vectors % panels;
  Panel panel;
  panel.vector = index * each + (index < wider ? index : wider);
  panel.n_vectors = static_cast<int>(each + (index < wider ? 1 : 0));
  return panel;
}

template <class Kind>
int64_t Words(int64_t k) {
  return (k + Kind::kGroup - 1) / Kind::kGroup;
}

template <class Kind>
size_t PackedBytes(int64_t n, int64_t k) {
  return static_cast<size_t>(Vectors(n) * kLanes * (Words<Kind>(k) + 1)) * 4;
}

template <class Kind>
const int32_t* Sums(const void* packed, int64_t n, int64_t k) {
  return static_cast<const int32_t*>(packed) + Vectors(n) * kLanes * Words<Kind>(k);
}

int32_t WeightAt(const IntegerWeights& w, int64_t index) {
  if (!w.four_bits) return static_cast<int8_t>(w.data[index] ^ w.flip);
  const int nibble = (w.data[index / 2] >> (index % 2 * 4)) & 15;
  return nibble >= 8 ? nibble - 16 : nibble;
}

template <class Kind>
void Pack(const IntegerWeights& w, int64_t panel_begin, int64_t panel_end, void* packed) {
  const int64_t words = Words<Kind>(w.k);
  uint8_t* base = static_cast<uint8_t*>(packed);
  int32_t* sums = static_cast<int32_t*>(packed) + Vectors(w.n) * kLanes * words;
  const int32_t zero_point = Kind::kSize == 2 ? w.zero_point : 0;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    for (int64_t j = 0; j < width; ++j) {
      uint8_t* out = base + (n0 * words + j) * 4;
      const int64_t row = w.first + (n0 + j) * w.stride_n;
      const bool inside = n0 + j < w.n;
      int32_t sum = 0;
      for (int64_t k = 0; k < words * Kind::kGroup; ++k) {
        const bool real = inside && k < w.k;
        const int32_t value = real ? WeightAt(w, row + k) - zero_point : 0;
        sum += value;
        uint8_t* to = out + k / Kind::kGroup * width * 4 + k % Kind::kGroup * Kind::kSize;
        const int16_t half = static_cast<int16_t>(value);
        __builtin_memcpy(to, &half, Kind::kSize);  // little endian: the low byte of a byte
      }
      sums[n0 + j] = sum;
    }
  }
}

// products[kM][kN * kLanes] = A * W over `words` words and, if tail > 0, that many bytes more.
template <class Kind, int kM, int kN>
void Tile(const uint8_t* a, int64_t lda_bytes, const int32_t* w, int64_t words, int tail,
          int32_t flip_word, int32_t* products) {
  const uint8_t* rows[kM];
  IVec acc[kM][kN];
  const IVec flip = Broadcast(flip_word);
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
    rows[m] = a + m * lda_bytes;
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = IVec{};
  }
  for (int64_t i = 0; i < words; ++i, w += kN * kLanes) {
    IVec wv[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) wv[j] = LoadInts(w + j * kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m) {
      int32_t word;
      __builtin_memcpy(&word, rows[m] + i * 4, 4);
      const IVec av = Broadcast(word);
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) acc[m][j] = Kind::Dot(acc[m][j], av, wv[j], flip);
    }
  }
  if (tail > 0) {
    for (int m = 0; m < kM; ++m) {
      int32_t word = 0;
      for (int b = 0; b < tail; ++b) {
        reinterpret_cast<uint8_t*>(&word)[b] = rows[m][words * 4 + b];
      }
      const IVec av = Broadcast(word);
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        acc[m][j] = Kind::Dot(acc[m][j], av, LoadInts(w + j * kLanes), flip);
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) StoreInts(products + (m * kN + j) * kLanes, acc[m][j]);
  }
}

using TileFunction = void (*)(const uint8_t*, int64_t, const int32_t*, int64_t, int, int32_t,
                              int32_t*);

// The tile of [vectors - 1][rows - 1].
template <class Kind>
struct Tiles {
  static const TileFunction kTable[kMaxVectors][kRows];
};

#define TW_TILES_6(n)                                                                       \
  Tile<Kind, 1, n>, Tile<Kind, 2, n>, Tile<Kind, 3, n>, Tile<Kind, 4, n>, Tile<Kind, 5, n>, \
      Tile<Kind, 6, n>
#define TW_TILES_8(n) TW_TILES_6(n), Tile<Kind, 7, n>, Tile<Kind, 8, n>
template <class Kind>
const TileFunction Tiles<Kind>::kTable[kMaxVectors][kRows] = {
#if defined(__AVX512F__)
    {TW_TILES_8(1)}, {TW_TILES_8(2)}, {TW_TILES_8(3)}
#elif defined(__aarch64__)
    {TW_TILES_8(1)}, {TW_TILES_8(2)}
#else
    {TW_TILES_6(1)}, {TW_TILES_6(2)}
#endif
};
#undef TW_TILES_8
#undef TW_TILES_6

void EndBytes(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
              int n_vectors) {
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = n0 + j * kLanes;
    const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    const IVec bias = LoadInts(t.bias + n);
    const Vec scale = Load(t.scale + n);
    for (int m = 0; m < rows; ++m) {
      IVec v = LoadInts(products + (m * n_vectors + j) * kLanes) + bias;
      if (t.row_term != nullptr) v += t.row_term[row + m];
      v = RoundToInts(Clamp(ToFloat(v) * scale, lo, hi)) + t.zero_point;
      StoreBytes(static_cast<uint8_t*>(t.c) + (row + m) * t.ldc + n, v, count);
    }
  }
}

void EndFloat(const IntegerTask& t, const int32_t* products, const int32_t* sums, int64_t row,
              int rows, int64_t n0, int n_vectors) {
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = n0 + j * kLanes;
    const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    const Vec scale = Load(t.scale + n);
    const Vec bias = t.float_bias != nullptr ? LoadFirst(t.float_bias + n, count) : Vec{};
    const IVec sum = LoadInts(sums + n);
    for (int m = 0; m < rows; ++m) {
      const int64_t r = (row + m) * t.row_step;
      IVec v = LoadInts(products + (m * n_vectors + j) * kLanes);
      if (t.row_zero != nullptr) v -= sum * t.row_zero[r];
      const Vec f = ToFloat(v) * (scale * t.row_scale[r]) + bias;
      StoreFirst(static_cast<float*>(t.c) + (row + m) * t.ldc + n, Clamp(f, lo, hi), count);
    }
  }
}

// 64-bit sums: the depth in pieces whose sums fit 32 bits.
template <class Kind>
void RunWide(const IntegerTask& t, TileFunction tile, const uint8_t* a, int64_t lda_bytes,
             const int32_t* w, int64_t row, int rows, int64_t n0, int n_vectors) {
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  int64_t sums[kRows * kTileColumns] = {};
  const int64_t words = t.k / Kind::kGroup;
  const int tail = static_cast<int>(t.k % Kind::kGroup) * Kind::kSize;
  const int64_t width = n_vectors * kLanes;
  for (int64_t first = 0; first == 0 || first < words; first += kWideWords) {
    const int64_t here = words - first < kWideWords ? words - first : kWideWords;
    const bool last = first + here == words;
    tile(a + first * 4, lda_bytes, w + first * width, here, last ? tail : 0, 0, products);
    for (int64_t i = 0; i < rows * width; ++i) sums[i] += products[i];
  }
  const int columns = static_cast<int>(t.n - n0 < width ? t.n - n0 : width);
  t.finish(t, sums, width, row, rows, n0, columns);
}

template <class Kind>
void Run(const IntegerTask& t) {
  if (t.m <= 0) return;
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  const int64_t n_tiles = (t.m + kRows - 1) / kRows;
  const int64_t each = t.m / n_tiles, taller = t.m % n_tiles;
  const int64_t words = t.k / Kind::kGroup;
  const int tail = static_cast<int>(t.k % Kind::kGroup) * Kind::kSize;
  const int64_t lda_bytes = t.lda * Kind::kSize;
  const int32_t* sums = Sums<Kind>(t.packed, t.n, t.k);
  const int32_t flip = static_cast<int32_t>(t.flip * 0x01010101u);
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const Panel panel = PanelAt(t.n, p);
    const int64_t n0 = panel.vector * kLanes;
    const int32_t* w = static_cast<const int32_t*>(t.packed) + n0 * Words<Kind>(t.k);
    int64_t row = 0;
    for (int64_t i = 0; i < n_tiles; ++i) {
      const int rows = static_cast<int>(each + (i < taller ? 1 : 0));
      const TileFunction tile = Tiles<Kind>::kTable[panel.n_vectors - 1][rows - 1];
      const uint8_t* a = static_cast<const uint8_t*>(t.a) + row * lda_bytes;
      if (t.ending == IntegerEnding::kWide) {
        RunWide<Kind>(t, tile, a, lda_bytes, w, row, rows, n0, panel.n_vectors);
      } else {
        tile(a, lda_bytes, w, words, tail, flip, products);
        if (t.ending == IntegerEnding::kBytes) {
          EndBytes(t, products, row, rows, n0, panel.n_vectors);
        } else {
          EndFloat(t, products, sums, row, rows, n0, panel.n_vectors);
        }
      }
      row += rows;
    }
  }
}

#if defined(TW_HAVE_DOT_BYTES)
void RowSums(const IntegerTask& t, int32_t* out) {
  const IVec flip = Broadcast(static_cast<int32_t>(t.flip * 0x01010101u));
  const IVec ones = Broadcast(0x01010101);
  for (int64_t r = 0; r < t.m; ++r) {
    const uint8_t* a = static_cast<const uint8_t*>(t.a) + r * t.lda;
    IVec acc = IVec{};
    int64_t k = 0;
    for (; k + kVectorBytes <= t.k; k += kVectorBytes)
      acc = DotBytes(acc, LoadInts(a + k) ^ flip, ones);
    int32_t sum = 0;
    for (int i = 0; i < kLanes; ++i) sum += acc[i];
    for (; k < t.k; ++k) {
      const uint8_t byte = a[k] ^ t.flip;
      sum += kFlipInt8 != 0 ? byte : static_cast<int8_t>(byte);
    }
    out[r] = sum;
  }
}
#endif

#define TW_STRING_INNER(x) #x
#define TW_STRING(x) TW_STRING_INNER(x)

}  // namespace

extern const IntegerGemm kIntegerHalves;
const IntegerGemm kIntegerHalves = {
    "gemm i16 " TW_STRING(TW_ISA), false,        kRows,        kTileColumns, NPanels,
    PackedBytes<Halves>,           Pack<Halves>, Sums<Halves>, Run<Halves>,  nullptr};
#if defined(TW_HAVE_DOT_BYTES)
extern const IntegerGemm kIntegerBytes;
const IntegerGemm kIntegerBytes = {
    "gemm i8 " TW_STRING(TW_ISA), true,        kRows,       kTileColumns, NPanels,
    PackedBytes<Bytes>,           Pack<Bytes>, Sums<Bytes>, Run<Bytes>,   RowSums};
#endif

}  // namespace TW_ISA
}  // namespace topwork
