// The integer GEMM's register tiles. A word is 32 bits of depth: four bytes or two halves; a tile
// broadcasts the words of kM rows of A against up to kMaxVectors vectors of W's words, and leaves
// its sums in a buffer from which the ending takes them.
//
// Packed W: [panel][word][vector][lane], then the sums of W's rows as int32, padded to whole
// vectors; the depth is padded with zeros to whole words.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_int.h"
#include "runtime/tensor/packed.h"

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
// Bytes of A in the processor's own sign.
struct NativeBytes {
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec) { return DotBytes(acc, a, w); }
};

struct Bytes {
  using Native = NativeBytes;
  static constexpr int kGroup = 4;
  static constexpr int kSize = 1;  // bytes of a value of A
  TW_INLINE IVec Dot(IVec acc, IVec a, IVec w, IVec flip) { return DotBytes(acc, a ^ flip, w); }
};
#endif

struct Halves {
  using Native = Halves;
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

// Words of a run, and of all runs.
template <class Kind>
int64_t RunWords(int64_t run_k) {
  return (run_k + Kind::kGroup - 1) / Kind::kGroup;
}

template <class Kind>
size_t PackedBytes(int64_t n, int64_t runs, int64_t run_k) {
  return static_cast<size_t>(Vectors(n) * kLanes * (runs * RunWords<Kind>(run_k) + 1)) * 4;
}

template <class Kind>
const int32_t* Sums(const void* packed, int64_t n, int64_t runs, int64_t run_k) {
  return static_cast<const int32_t*>(packed) + Vectors(n) * kLanes * runs * RunWords<Kind>(run_k);
}

int32_t WeightAt(const IntegerWeights& w, int64_t index) {
  if (w.bits < 8) return PackedAt(w.data, index, w.bits);
  return static_cast<int8_t>(w.data[index] ^ w.flip);
}

// Row n of W (zeros beyond the last) into every `width`-th word from `out`; returns its sum.
template <class Kind>
int32_t PackRow(const IntegerWeights& w, int64_t n, int64_t width, uint8_t* out) {
  const int64_t run_words = RunWords<Kind>(w.run_k);
  const int32_t zero_point = Kind::kSize == 2 ? w.zero_point : 0;
  int64_t index = w.first + n * w.runs * w.run_k;
  int32_t sum = 0;
  for (int64_t r = 0; r < w.runs; ++r, index += w.run_k) {
    for (int64_t k = 0; k < run_words * Kind::kGroup; ++k) {
      const int32_t value = n < w.n && k < w.run_k ? WeightAt(w, index + k) - zero_point : 0;
      sum += value;
      const int16_t half = static_cast<int16_t>(value);
      __builtin_memcpy(out + k % Kind::kGroup * Kind::kSize, &half, Kind::kSize);  // low byte first
      if (k % Kind::kGroup == Kind::kGroup - 1) out += width * 4;
    }
  }
  return sum;
}

template <class Kind>
void Pack(const IntegerWeights& w, int64_t panel_begin, int64_t panel_end, void* packed) {
  const int64_t words = w.runs * RunWords<Kind>(w.run_k);
  uint8_t* base = static_cast<uint8_t*>(packed);
  int32_t* sums = static_cast<int32_t*>(packed) + Vectors(w.n) * kLanes * words;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    for (int64_t j = 0; j < width; ++j) {
      sums[n0 + j] = PackRow<Kind>(w, n0 + j, width, base + (n0 * words + j) * 4);
    }
  }
}

// What a tile reads of every row of A: `runs` stretches of `words` words and `tail` bytes.
struct Stretches {
  const int64_t* offsets = nullptr;
  int64_t runs = 1;
  int64_t words = 0;
  int tail = 0;
  int32_t flip = 0;
};

// acc += A * W over one word of every row, which lies `at` bytes behind rows[m]. (Broadcast from
// memory: by way of a register it costs twice as much.)
template <class Kind, int kM, int kN>
TW_INLINE void AddWord(IVec (&acc)[kM][kN], const uint8_t* const (&rows)[kM], int64_t at,
                       const int32_t* w, IVec flip) {
  IVec wv[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) wv[j] = LoadInts(w + j * kLanes);
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
    const IVec av = BroadcastWord(rows[m] + at);
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = Kind::Dot(acc[m][j], av, wv[j], flip);
  }
}

// products[kM][kN * kLanes] = A * W for the rows that begin at a[m].
template <class Kind, int kM, int kN>
void Tile(const uint8_t* const* a, const Stretches& s, const int32_t* w, int32_t* products) {
  IVec acc[kM][kN];
  const IVec flip = Broadcast(s.flip);
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = IVec{};
  }
  for (int64_t run = 0; run < s.runs; ++run) {
    const int64_t offset = s.offsets != nullptr ? s.offsets[run] : 0;
    const uint8_t* rows[kM];
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m) rows[m] = a[m] + offset;
    for (int64_t i = 0; i < s.words; ++i, w += kN * kLanes) {
      AddWord<Kind, kM, kN>(acc, rows, i * 4, w, flip);
    }
    if (s.tail > 0) {
      uint32_t words[kM];
      const uint8_t* tails[kM];
      for (int m = 0; m < kM; ++m) {
        words[m] = 0;
        for (int b = 0; b < s.tail; ++b) {
          words[m] |= static_cast<uint32_t>(rows[m][s.words * 4 + b]) << (8 * b);
        }
        tails[m] = reinterpret_cast<const uint8_t*>(&words[m]);
      }
      AddWord<Kind, kM, kN>(acc, tails, 0, w, flip);
      w += kN * kLanes;
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) StoreInts(products + (m * kN + j) * kLanes, acc[m][j]);
  }
}

using TileFunction = void (*)(const uint8_t* const*, const Stretches&, const int32_t*, int32_t*);

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

// What a vector of columns ends in: from sums with their bias to clamped values that have the zero
// point.
struct FixedColumns {
  VectorFactors factors;
  IVec lo, hi, zero_point;
  FixedColumns(const IntegerTask& t, int64_t n)
      : factors(LoadFactors(t.factors.mantissa + n,
                            t.factors.left != nullptr ? t.factors.left + n : nullptr,
                            t.factors.right + n)),
        lo(Broadcast(t.least)),
        hi(Broadcast(t.most)),
        zero_point(Broadcast(t.zero_point)) {}
  __attribute__((always_inline)) IVec operator()(IVec x) const {
    return ClampInts(ApplyFactors(factors, x), lo, hi) + zero_point;
  }
};

struct SmallColumns {
  SmallFactors factors;
  IVec lo, hi;
  SmallColumns(const IntegerTask& t, int64_t n)
      : factors(LoadSmallFactors(t.factors.mantissa + n, t.factors.right + n, t.zero_point)),
        lo(Broadcast(t.least + t.zero_point)),
        hi(Broadcast(t.most + t.zero_point)) {}
  __attribute__((always_inline)) IVec operator()(IVec x) const {
    return ClampInts(ApplySmallFactors(factors, x), lo, hi);
  }
};

struct RealColumns {
  const double* factors;
  IVec lo, hi, zero_point;
  RealColumns(const IntegerTask& t, int64_t n)
      : factors(t.factors.real + n),
        lo(Broadcast(t.least)),
        hi(Broadcast(t.most)),
        zero_point(Broadcast(t.zero_point)) {}
  __attribute__((always_inline)) IVec operator()(IVec x) const {
    return ClampInts(ScaleByReals(x, factors), lo, hi) + zero_point;
  }
};

// One vector of columns. (What a row needs is in locals: bytes that are stored may alias `t`.)
template <class Columns>
TW_INLINE void EndColumns(const IntegerTask& t, const Columns& columns, const int32_t* products,
                          int64_t stride, int64_t row, int rows, int64_t n) {
  const IVec bias = LoadInts(t.bias + n);
  const int32_t* row_term = t.row_term;
  const int64_t ldc = t.ldc;
  const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
  uint8_t* out = static_cast<uint8_t*>(t.c) + row * ldc + n;
  if (row_term == nullptr && count == kLanes) {
    for (int m = 0; m < rows; ++m, out += ldc, products += stride) {
      StoreBytes(out, columns(LoadInts(products) + bias), kLanes);
    }
    return;
  }
  for (int m = 0; m < rows; ++m, out += ldc, products += stride) {
    IVec sum = LoadInts(products) + bias;
    if (row_term != nullptr) sum += row_term[row + m];
    StoreBytes(out, columns(sum), count);
  }
}

template <class Columns>
void EndBytes(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
              int n_vectors) {
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = n0 + j * kLanes;
    const Columns columns(t, n);
    EndColumns(t, columns, products + j * kLanes, n_vectors * kLanes, row, rows, n);
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
      Vec f = ToFloat(v) * (scale * t.row_scale[r]) + bias;
      if (t.addend != nullptr) f += LoadFirst(t.addend + (row + m) * t.ldc + n, count);
      StoreFirst(static_cast<float*>(t.c) + (row + m) * t.ldc + n, Clamp(f, lo, hi), count);
    }
  }
}

void EndSums(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
             int n_vectors) {
  const int64_t width = n_vectors * kLanes;
  const int64_t count = t.n - n0 < width ? t.n - n0 : width;
  for (int m = 0; m < rows; ++m) {
    int32_t* out = static_cast<int32_t*>(t.c) + (row + m) * t.ldc + n0;
    for (int64_t i = 0; i < count; ++i) out[i] = products[m * width + i];
  }
}

// Adds the product of a piece of the depth, short enough for 32 bits, to 64-bit sums.
void AddPiece(TileFunction tile, const uint8_t* const* a, const Stretches& piece, const int32_t* w,
              int64_t n, int64_t* sums) {
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  tile(a, piece, w, products);
  for (int64_t i = 0; i < n; ++i) sums[i] += products[i];
}

// Products of 16-bit values: as many whole runs at a time as fit 32 bits, or pieces of a run.
void RunWide(const IntegerTask& t, TileFunction tile, const uint8_t* const* a, Stretches s,
             const int32_t* w, int64_t row, int rows, int64_t n0, int n_vectors) {
  int64_t sums[kRows * kTileColumns] = {};
  const int64_t width = n_vectors * kLanes, n = rows * width;
  const int64_t run_words = s.words + (s.tail > 0 ? 1 : 0);
  const int64_t at_once = run_words > kWideWords ? 0 : kWideWords / (run_words > 0 ? run_words : 1);
  const int64_t no_offset = 0;
  const int64_t* offsets = s.offsets != nullptr ? s.offsets : &no_offset;
  for (int64_t run = 0; run < s.runs;) {
    Stretches piece = s;
    piece.offsets = offsets + run;
    if (at_once > 0) {
      piece.runs = s.runs - run < at_once ? s.runs - run : at_once;
      AddPiece(tile, a, piece, w + run * run_words * width, n, sums);
      run += piece.runs;
      continue;
    }
    for (int64_t word = 0; word < run_words; word += kWideWords) {
      const int64_t offset = offsets[run] + word * 4;
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

TW_INLINE const uint8_t* RowOf(const IntegerTask& t, int64_t row) {
  return t.a + (t.row_offsets != nullptr ? t.row_offsets[row] : row * t.lda);
}

template <class Kind>
void Run(const IntegerTask& t) {
  if (t.m <= 0) return;
  alignas(kVectorBytes) int32_t products[kRows * kTileColumns];
  const int64_t n_tiles = (t.m + kRows - 1) / kRows;
  const int64_t each = t.m / n_tiles, taller = t.m % n_tiles;
  const int64_t run_words = RunWords<Kind>(t.run_k);
  Stretches s;
  s.offsets = t.run_offsets;
  s.runs = t.runs;
  s.words = t.over_read ? run_words : t.run_k / Kind::kGroup;
  s.tail = t.over_read ? 0 : static_cast<int>(t.run_k % Kind::kGroup) * Kind::kSize;
  s.flip = static_cast<int32_t>(t.flip * 0x01010101u);
  const int32_t* sums = Sums<Kind>(t.packed, t.n, t.runs, t.run_k);
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const Panel panel = PanelAt(t.n, p);
    const int64_t n0 = panel.vector * kLanes;
    const int32_t* w = static_cast<const int32_t*>(t.packed) + n0 * t.runs * run_words;
    int64_t row = 0;
    for (int64_t i = 0; i < n_tiles; ++i) {
      const int rows = static_cast<int>(each + (i < taller ? 1 : 0));
      const TileFunction tile =
          s.flip == 0 ? Tiles<typename Kind::Native>::kTable[panel.n_vectors - 1][rows - 1]
                      : Tiles<Kind>::kTable[panel.n_vectors - 1][rows - 1];
      const uint8_t* a[kRows];
      for (int m = 0; m < rows; ++m) a[m] = RowOf(t, row + m);
      if (t.ending == IntegerEnding::kWide) {
        RunWide(t, tile, a, s, w, row, rows, n0, panel.n_vectors);
      } else {
        tile(a, s, w, products);
        if (t.ending == IntegerEnding::kBytes) {
          const auto end = t.factors.real != nullptr ? EndBytes<RealColumns>
                           : t.factors.small         ? EndBytes<SmallColumns>
                                                     : EndBytes<FixedColumns>;
          end(t, products, row, rows, n0, panel.n_vectors);
        } else if (t.ending == IntegerEnding::kSums) {
          EndSums(t, products, row, rows, n0, panel.n_vectors);
        } else {
          EndFloat(t, products, sums, row, rows, n0, panel.n_vectors);
        }
      }
      row += rows;
    }
  }
}

#if defined(TW_HAVE_DOT_BYTES)
// The sum of the eight unsigned bytes of x.
TW_INLINE int32_t SumEight(uint64_t x) {
  constexpr uint64_t kEven = 0x00FF00FF00FF00FFu;
  const uint64_t pairs = (x & kEven) + ((x >> 8) & kEven);
  return static_cast<int32_t>((pairs * 0x0001000100010001u) >> 48);
}

// The sum of n bytes in the processor's sign after the flip.
int32_t SumBytes(const uint8_t* a, int64_t n, uint8_t flip_byte) {
  // Signed bytes are summed as unsigned ones that are 128 larger.
  const uint8_t shift = kFlipInt8 != 0 ? 0 : 0x80;
  const uint64_t flip = static_cast<uint8_t>(flip_byte ^ shift) * 0x0101010101010101u;
  int32_t sum = 0;
  int64_t k = 0;
  if (n >= kVectorBytes) {
    const IVec flips = Broadcast(static_cast<int32_t>(flip_byte * 0x01010101u));
    const IVec ones = Broadcast(0x01010101);
    IVec acc = IVec{};
    for (; k + kVectorBytes <= n; k += kVectorBytes) {
      acc = DotBytes(acc, LoadInts(a + k) ^ flips, ones);
    }
    for (int i = 0; i < kLanes; ++i) sum += acc[i];
  }
  sum -= static_cast<int32_t>(n - k) * shift;
  for (; k + 8 <= n; k += 8) {
    uint64_t bytes;
    __builtin_memcpy(&bytes, a + k, 8);
    sum += SumEight(bytes ^ flip);
  }
  for (; k < n; ++k) sum += static_cast<uint8_t>(a[k] ^ flip);
  return sum;
}

void RowSums(const IntegerTask& t, int32_t* out) {
  for (int64_t r = 0; r < t.m; ++r) {
    int32_t sum = 0;
    for (int64_t run = 0; run < t.runs; ++run) {
      const int64_t offset = t.run_offsets != nullptr ? t.run_offsets[run] : 0;
      sum += SumBytes(RowOf(t, r) + offset, t.run_k, t.flip);
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
