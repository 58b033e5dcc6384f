// The integer GEMM: what comes before and after its register tiles (integer_tiles.h). A tile
// leaves its sums in a buffer, from which the epilogue takes them.
//
// With TW_ISA_BYTES_ONLY this makes products of bytes alone (avxvnni, i8mm: see cpu_kernels.h).
#if defined(TW_ISA_BYTES_ONLY) && defined(__ARM_FEATURE_MATMUL_INT8)
#define TW_PAIRS_OF_ROWS
#endif

#include "kernels/contract/selection.h"
#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_blocks.h"
#include "kernels/cpu/integer_row_sums.h"
#include "kernels/cpu/integer_tiles.h"
#include "kernels/cpu/simd_single.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace TW_ISA {
namespace {

template <int n>
struct Number {
  static constexpr int value = n;
};

// What vectors of columns end in: from sums with their bias to bytes.
struct BiasedColumns {
  static const int32_t* Bias(const IntegerTask& t) { return t.bias; }
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackInts(range, v);
  }
};

struct FixedColumns : BiasedColumns {
  VectorFactors factors;
  void Load(const ColumnFactors& f, int64_t n) {
    factors = LoadFactors(f.mantissa + n, f.left != nullptr ? f.left + n : nullptr, f.right + n);
  }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return ApplyFactors(factors, x); }
};

// kIsWhole: the range of the bytes IsWhole.
template <bool kIsWhole>
struct SmallColumns : BiasedColumns {
  ScaleFactors factors;
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackInts<kIsWhole>(range, v);
  }
  void Load(const ColumnFactors& f, int64_t n) {
    factors = MakeScaleFactors(LoadInts(f.mantissa + n), LoadInts(f.right + n));
  }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return Scale(factors, x); }
};

#if defined(TW_HAVE_SINGLE_FACTORS)
template <class Singles, bool kIsWhole>
struct SingleColumns {
  Singles factors;
  static const int32_t* Bias(const IntegerTask& t) { return t.factors.single.bias; }
  void Load(const ColumnFactors& f, int64_t n) { factors = Singles(f.single, n); }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return Scale(factors, x); }
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackSingles<kIsWhole>(range, v);
  }
};
#endif

struct RealColumns : BiasedColumns {
  const double* factors;
  void Load(const ColumnFactors& f, int64_t n) { factors = f.real + n; }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return ScaleByReals(x, factors); }
};

// kM rows of kN vectors of columns; together they fill the bytes of a vector at most.
template <int kM, int kN, class Columns>
TW_INLINE void EndRows(const Columns (&columns)[kN], const IVec (&bias)[kN], const ByteRange& range,
                       const int32_t* row_term, const int32_t* products, int64_t stride, int count,
                       int64_t ldc, uint8_t* out) {
  IVec v[kM * kN];
#pragma GCC unroll 4
  for (int i = 0; i < kM * kN; ++i) {
    IVec sum = LoadInts(products + i / kN * stride + i % kN * kLanes) + bias[i % kN];
    if (row_term != nullptr) sum += row_term[i / kN];
    v[i] = columns[i % kN](sum);
  }
  const ByteVec bytes = Columns::Pack(range, v);
  if (!kShortLoops && kM > 1 && count == kN * kLanes && ldc == count) {  // rows are neighbours
    StoreInts(out, reinterpret_cast<IVec>(bytes));
    return;
  }
#pragma GCC unroll 4
  for (int m = 0; m < kM; ++m) StoreParts<kN>(out + m * ldc, bytes, m * kN, count);
}

// kN vectors of columns from n on, of rows of sums `stride` apart. (What a row needs is in locals:
// bytes that are stored may alias `t`.)
template <class Columns, int kN>
void EndColumns(const IntegerTask& t, const int32_t* products, int64_t stride, int64_t row,
                int rows, int64_t n) {
  const ByteRange range =
      MakeByteRange(t.zero_point, t.least + t.zero_point, t.most + t.zero_point);
  Columns columns[kN];
  IVec bias[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    columns[j].Load(t.factors, n + j * kLanes);
    bias[j] = LoadInts(Columns::Bias(t) + n + j * kLanes);
  }
  const int32_t* row_term = t.row_term != nullptr ? t.row_term + row : nullptr;
  const int64_t ldc = t.ldc;
  const int count = t.n - n < kN * kLanes ? static_cast<int>(t.n - n) : kN * kLanes;
  uint8_t* out = static_cast<uint8_t*>(t.c) + row * ldc + n;
  constexpr int kM = 4 / kN;  // rows at a time
  int m = 0;
  const auto end = [&](auto at_once) {
    constexpr int kAtOnce = decltype(at_once)::value;
    EndRows<kAtOnce, kN>(columns, bias, range, row_term != nullptr ? row_term + m : nullptr,
                         products + m * stride, stride, count, ldc, out + m * ldc);
    m += kAtOnce;
  };
  while (m + kM <= rows) end(Number<kM>());
  while (m < rows) end(Number<1>());
}

using EndFunction = void (*)(const IntegerTask&, const int32_t*, int64_t, int64_t, int, int64_t);

// of(Number<n>()) for as many vectors.
template <class Of>
TW_INLINE auto OfVectors(int n_vectors, const Of& of) {
  constexpr int kThree = kMaxVectors < 3 ? kMaxVectors : 3;
  return n_vectors == 1   ? of(Number<1>())
         : n_vectors == 2 ? of(Number<2>())
         : n_vectors == 3 ? of(Number<kThree>())
                          : of(Number<kMaxVectors>());
}

template <class Columns>
EndFunction EndOf(int n_vectors) {
  return OfVectors(n_vectors, [](auto n) { return &EndColumns<Columns, decltype(n)::value>; });
}

void EndBytes(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
              int n_vectors) {
  const int64_t stride = n_vectors * kLanes;
#if defined(TW_HAVE_SINGLE_FACTORS)
  if (HaveSingles(t.factors.single, n0, stride)) {
    const bool whole = IsWhole(t.least + t.zero_point, t.most + t.zero_point);
    const auto end = t.factors.single.shift != nullptr
                         ? EndOf<SingleColumns<MirroredSingles, false>>
                     : whole ? EndOf<SingleColumns<VectorSingles, true>>
                             : EndOf<SingleColumns<VectorSingles, false>>;
    return end(n_vectors)(t, products, stride, row, rows, n0);
  }
#endif
  if (!kShortLoops && (t.factors.real != nullptr || t.factors.small)) {
    const bool whole = kPacksWhole && IsWhole(t.least + t.zero_point, t.most + t.zero_point);
    const auto end = !t.factors.small ? EndOf<RealColumns>
                     : whole          ? EndOf<SmallColumns<kPacksWhole>>
                                      : EndOf<SmallColumns<false>>;
    return end(n_vectors)(t, products, stride, row, rows, n0);
  }
  // Rare, or the least code: small factors are fixed point, too.
  const auto end = kShortLoops && t.factors.real != nullptr ? EndColumns<RealColumns, 1>
                                                            : EndColumns<FixedColumns, 1>;
  for (int j = 0; j < n_vectors; ++j) {
    end(t, products + j * kLanes, stride, row, rows, n0 + j * kLanes);
  }
}

// Results of a column's vector: `rows` of them.
struct FloatColumn {
  Vec scale, bias, lo, hi;
  IVec sum;
  int64_t n;
  int count;
};

// (What a row needs is in locals: floats that are stored may alias `t`.)
TW_INLINE void EndFloatColumn(const IntegerTask& t, const FloatColumn& c, const int32_t* products,
                              int64_t stride, int64_t row, int rows, Vec* least, Vec* most) {
  const int64_t ldc = t.ldc, step = t.row_step;
  const float* row_scale = t.row_scale + row * step;
  const int32_t no_zero = 0;
  const bool has_zero = t.row_zero != nullptr;
  const int32_t* row_zero = has_zero ? t.row_zero + row * step : &no_zero;
  const int64_t zero_step = has_zero ? step : 0;
  const float* addend = t.addend != nullptr ? t.addend + row * ldc + c.n : nullptr;
  float* out = static_cast<float*>(t.c) + row * ldc + c.n;
  Vec lesser = *least, greater = *most;
  for (int m = 0; m < rows; ++m, out += ldc, products += stride) {
    const IVec v = LoadInts(products) - c.sum * row_zero[m * zero_step];
    Vec f = ToFloat(v) * (c.scale * row_scale[m * step]) + c.bias;
    if (addend != nullptr) f += LoadFirst(addend + m * ldc, c.count);
    f = Clamp(f, c.lo, c.hi);
    lesser = Lesser(f, lesser);
    greater = Greater(f, greater);
    StoreFirst(out, f, c.count);
  }
  *least = lesser;
  *most = greater;
}

#if !defined(__OPTIMIZE_SIZE__)
// The same of kN whole vectors, where all rows share a scale.
template <int kN>
void EndFloatRows(const IntegerTask& t, const int32_t* products, const int32_t* sums, int64_t row,
                  int rows, int64_t n0) {
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  const int32_t zero = t.row_zero != nullptr ? *t.row_zero : 0;
  Vec least = Vec{}, most = Vec{}, scale[kN], bias[kN];
  IVec sum[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    const int64_t n = n0 + j * kLanes;
    scale[j] = Load(t.scale + n) * *t.row_scale;
    bias[j] = t.float_bias != nullptr ? Load(t.float_bias + n) : Vec{};
    sum[j] = LoadInts(sums + n) * zero;
  }
  const int64_t ldc = t.ldc;
  const float* addend = t.addend != nullptr ? t.addend + row * ldc + n0 : nullptr;
  float* out = static_cast<float*>(t.c) + row * ldc + n0;
  for (int m = 0; m < rows; ++m, out += ldc, products += kN * kLanes) {
    Vec f[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) {
      f[j] = ToFloat(LoadInts(products + j * kLanes) - sum[j]) * scale[j] + bias[j];
    }
    if (addend != nullptr) {
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) f[j] += Load(addend + m * ldc + j * kLanes);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) {
      f[j] = Clamp(f[j], lo, hi);
      least = Lesser(f[j], least);
      most = Greater(f[j], most);
      Store(out + j * kLanes, f[j]);
    }
  }
  if (t.range != nullptr) WidenRange(t.range, least, most);
}
#endif

void EndFloat(const IntegerTask& t, const int32_t* products, const int32_t* sums, int64_t row,
              int rows, int64_t n0, int n_vectors) {
#if !defined(__OPTIMIZE_SIZE__)
  if (t.row_step == 0 && n0 + n_vectors * kLanes <= t.n) {
    const auto end = OfVectors(n_vectors, [](auto n) { return &EndFloatRows<decltype(n)::value>; });
    return end(t, products, sums, row, rows, n0);
  }
#endif
  Vec least = Vec{}, most = Vec{};
  FloatColumn column;
  column.lo = Vec{} + t.lo;
  column.hi = Vec{} + t.hi;
  const int64_t stride = n_vectors * kLanes;
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = column.n = n0 + j * kLanes;
    column.count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    column.scale = Load(t.scale + n);
    column.bias = t.float_bias != nullptr ? LoadFirst(t.float_bias + n, column.count) : Vec{};
    column.sum = LoadInts(sums + n);
    EndFloatColumn(t, column, products + j * kLanes, stride, row, rows, &least, &most);
  }
  if (t.range != nullptr) WidenRange(t.range, least, most);
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
  const int64_t no_offset = 0;
  const int64_t* offsets = s.offsets != nullptr ? s.offsets : &no_offset;
  for (int64_t run = 0; run < s.runs;) {
    Segments piece = s;
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

TW_INLINE void EndTiles(const IntegerTask& t, const int32_t* products, const int32_t* sums,
                        int64_t row, int rows, int64_t n0, int n_vectors) {
  if (t.epilogue == IntegerEpilogue::kBytes) {
    EndBytes(t, products, row, rows, n0, n_vectors);
  } else if (t.epilogue == IntegerEpilogue::kSums) {
    EndSums(t, products, row, rows, n0, n_vectors);
  } else {
    EndFloat(t, products, sums, row, rows, n0, n_vectors);
  }
}

constexpr int kTilesAtOnce = 4;

template <class Kind>
void Run(const IntegerTask& t) {
  if (t.m <= 0) return;
  alignas(kVectorBytes) int32_t products[kTilesAtOnce * kRows * kTileColumns];
  // Tiles are about equally high; rows that are multiplied in pairs stay together.
  constexpr int64_t kUnit = Kind::kPaired ? 2 : 1;
  const int64_t units = (t.m + kUnit - 1) / kUnit, n_tiles = (t.m + kRows - 1) / kRows;
  const int64_t each = units / n_tiles, taller = units % n_tiles;
  const int64_t run_words = RunWords<Kind>(t.nibbles ? t.run_k / 2 : t.run_k);
  Segments s;
  s.offsets = t.run_offsets;
  s.runs = t.runs;
  s.words = t.over_read ? RunWords<Kind>(t.run_k) : t.run_k / Kind::kGroup;
  s.pairs = t.run_k / Kind::kGroup / 2;
  s.tail = t.over_read ? 0 : static_cast<int>(t.run_k % Kind::kGroup) * Kind::kSize;
  StoreInts(s.flip, Broadcast(static_cast<int32_t>(t.flip * 0x01010101u)));
  const int32_t* sums = Sums<Kind>(t.packed, t.n, t.runs, t.run_k);
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const Panel panel = PanelAt(t.n, p);
    const int64_t n0 = panel.vector * kLanes;
    const int32_t* w =
        static_cast<const int32_t*>(t.packed) + PackedInts<Kind>(n0, t.runs * run_words);
    // Several tiles leave their sums before they are ended together.
    int64_t row = 0, first = 0;
    for (int64_t i = 0; i < n_tiles; ++i) {
      const int64_t high = (each + (i < taller ? 1 : 0)) * kUnit;
      const int rows = static_cast<int>(high < t.m - row ? high : t.m - row);
      const TileFunction tile =
          t.flip == 0 ? Tiles<typename Kind::Native>::kTable[panel.n_vectors - 1][rows - 1]
                      : Tiles<Kind>::kTable[panel.n_vectors - 1][rows - 1];
      const uint8_t* a[kRows];
      for (int m = 0; m < rows; ++m) a[m] = RowOf(t, row + m);
      if (Kind::kPackedSize == 2 && t.epilogue == IntegerEpilogue::kWide) {
        RunWide(t, tile, a, s, w, row, rows, n0, panel.n_vectors);
      } else if (kWeightBytes<Kind> >= 4 && t.run_scale != nullptr) {
        const int64_t ints = PackedInts<Kind>(panel.n_vectors * kLanes, run_words);
        RunBlocks<Kind>(t, tile, a, s, w, ints, row, rows, n0, panel.n_vectors);
      } else {
        tile(a, s, w, products + (row - first) * panel.n_vectors * kLanes);
        if (i % kTilesAtOnce == kTilesAtOnce - 1 || i == n_tiles - 1) {
          const int ended = static_cast<int>(row + rows - first);
          EndTiles(t, products, sums, first, ended, n0, panel.n_vectors);
          first = row + rows;
        }
      }
      row += rows;
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
