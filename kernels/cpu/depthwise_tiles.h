// Tiles of neighbouring output pixels of a depthwise convolution; for depthwise_isa.cc.
//
// A tile takes all channels in one sweep, so that a filter vector is loaded once for kTile pixels and an
// input vector once for all pixels that see it. A tile at the border skips the columns outside the
// image.
#ifndef TOPWORK_KERNELS_CPU_DEPTHWISE_TILES_H_
#define TOPWORK_KERNELS_CPU_DEPTHWISE_TILES_H_

#include "kernels/cpu/depthwise.h"
#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTile = 4;
// A pixel more, where a row's last tile would compute three pixels again.
constexpr int kWideTile = kTile + 1;

// Vectors of channels that a tile takes at once: with two there are enough sums that none waits for
// the one before, on processors that have the registers.
#if (defined(__aarch64__) || defined(__AVX512F__)) && !defined(__OPTIMIZE_SIZE__)
constexpr int kVectorsAtOnce = 2;
#else
constexpr int kVectorsAtOnce = 1;
#endif

// Whether the three rows of a 3 x 3 filter are one piece of code, and whether tiles go beyond borders.
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kUnrollsRows = false, kClipsTiles = false;
#else
constexpr bool kUnrollsRows = true, kClipsTiles = true;
#endif

// The taps [begin, end) of one axis that fall inside [0, size) when tap 0 lies at `origin`.
struct Taps {
  int64_t begin = 0, end = 0;
};

TW_INLINE Taps ClipTaps(int64_t origin, int64_t taps, int64_t dilation, int64_t size) {
  Taps t;
  t.end = taps;
  if (origin < 0) t.begin = (-origin + dilation - 1) / dilation;
  if (origin + (taps - 1) * dilation >= size) {
    t.end = size > origin ? (size - origin + dilation - 1) / dilation : 0;
  }
  if (t.end < t.begin) t.end = t.begin;
  return t;
}

// A vector of kN floats, kN ≤ kLanes.
template <int kN>
struct Vector {
  typedef float Type __attribute__((vector_size(kN * 4)));
  typedef float Anywhere __attribute__((vector_size(kN * 4), aligned(1), may_alias));
  TW_INLINE Type Read(const float* p) { return *reinterpret_cast<const Anywhere*>(p); }
  TW_INLINE void Write(float* p, Type v) { *reinterpret_cast<Anywhere*>(p) = v; }
};

// Stores lanes [begin, end); out of line, it would be repeated in every path.
__attribute__((noinline)) void StoreLanes(float* to, const float* lanes, int begin, int end) {
  for (int i = begin; i < end; ++i) to[i] = lanes[i];
}

// Clamps to [lo, hi].
template <int kN, typename V>
TW_INLINE V Bounded(V v, V lo, V hi) {
  if constexpr (kN == kLanes) return Clamp(v, lo, hi);
  v = lo > v ? lo : v;
  return hi < v ? hi : v;
}

// acc + a * b. (Of what it may order itself, gcc 12 copies sums and moves loads.)
template <int kN, typename V>
TW_INLINE V AddProducts(V acc, V a, V b) {
#if defined(__aarch64__)
  asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc) : "w"(a), "w"(b));
  return acc;
#else
  return acc + a * b;
#endif
}

// Stores lanes [skip, kN).
template <int kN, typename V>
TW_INLINE void StoreFrom(float* to, V v, int skip) {
  if (skip == 0) {
    Vector<kN>::Write(to, v);
    return;
  }
  float lanes[kN];
  Vector<kN>::Write(lanes, v);
  StoreLanes(to, lanes, skip, kN);
}

// Input values for a vector of output channels: `in` points to the first of them, or (kOneIn) to
// the pixel's only channel.
template <int kN, bool kOneIn>
TW_INLINE typename Vector<kN>::Type Input(const float* in) {
  typedef typename Vector<kN>::Type V;
  return kOneIn ? V{} + *in : Vector<kN>::Read(in);
}

// acc[v][t] += the tap `w` times the input of pixel t.
template <int kN, bool kOneIn, int kVectors, int kPixels>
TW_INLINE void AddTap(typename Vector<kN>::Type (&acc)[kVectors][kPixels], const float* w,
                      const float* in, int64_t pixel_step) {
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const typename Vector<kN>::Type wv = Vector<kN>::Read(w + v * kN);
#pragma GCC unroll 5
    for (int t = 0; t < kPixels; ++t) {
      acc[v][t] += wv * Input<kN, kOneIn>(in + t * pixel_step + (kOneIn ? 0 : v * kN));
    }
  }
}

// A vector of memory, where this stands. (Left alone, gcc 12 loads some of a tile's vectors late, and
// copies what it could load.)
template <int kN>
TW_INLINE typename Vector<kN>::Type LoadHere(const float* p) {
#if defined(__aarch64__)
  if constexpr (kN == 4) {
    typename Vector<kN>::Type v;
    asm volatile("ldr %q0, %1"
                 : "=w"(v)
                 : "m"(*reinterpret_cast<const typename Vector<kN>::Anywhere*>(p)));
    return v;
  }
#endif
  return Vector<kN>::Read(p);
}

// p + n. (Compilers would derive all addresses of a tile from one, in more instructions than the
// products take.)
template <class T>
TW_INLINE T* Next(T* p, int64_t n) {
  p += n;
  asm("" : "+r"(p));
  return p;
}

// A row of kWidth taps, and the first column of its input.
template <int kN, int kWidth, int kVectors>
struct TapRow {
  typedef typename Vector<kN>::Type V;
  V taps[kWidth][kVectors], first[kVectors];

  TW_INLINE void LoadColumn(const float* in, V (&to)[kVectors]) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) to[v] = Vector<kN>::Read(in + v * kN);
  }
  __attribute__((always_inline)) void LoadTaps(const float* w, int64_t channels) {
#pragma GCC unroll 5
    for (int i = 0; i < kWidth; ++i, w = Next(w, channels)) LoadColumn(w, taps[i]);
  }
};

// acc[v][t] += the products of `column` of the input, whose values are a, and the taps that meet it.
template <int kStride, int kN, int kWidth, int kVectors, int kPixels>
TW_INLINE void AddColumn(typename Vector<kN>::Type (&acc)[kVectors][kPixels],
                         const TapRow<kN, kWidth, kVectors>& row, int column,
                         const typename Vector<kN>::Type (&a)[kVectors]) {
#pragma GCC unroll 5
  for (int t = 0; t < kPixels; ++t) {
    const int tap = column - t * kStride;
    if (tap < 0 || tap >= kWidth) continue;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      acc[v][t] = AddProducts<kN>(acc[v][t], row.taps[tap][v], a[v]);
    }
  }
}

// acc[v][t] += the row's products. An input vector is loaded once for all pixels that see it, and
// before the products of the column to its left, for processors that wait for it; so is, by `load`,
// the next row.
template <int kStride, int kN, int kWidth, int kVectors, int kPixels, class LoadNext>
TW_INLINE void AddRow(typename Vector<kN>::Type (&acc)[kVectors][kPixels],
                      const TapRow<kN, kWidth, kVectors>& row, const float* in, int64_t channels,
                      const LoadNext& load_next) {
  constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
  typename Vector<kN>::Type a[kVectors], next[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) a[v] = row.first[v];
#pragma GCC unroll 11
  for (int column = 0; column < kColumns; ++column) {
    in = Next(in, channels);
    if (column + 1 < kColumns) TapRow<kN, kWidth, kVectors>::LoadColumn(in, next);
    if (column + 2 == kColumns) load_next();
    AddColumn<kStride>(acc, row, column, a);
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) a[v] = next[v];
  }
}

// Whether the registers hold all columns that a row of the filter sees, beside its taps and the sums.
template <int kWidth, int kStride, int kVectors, int kPixels>
constexpr bool HoldsRow() {
#if defined(__aarch64__)
  return ((kPixels - 1) * kStride + 2 * kWidth + kPixels) * kVectors <= 28;
#else
  return false;
#endif
}

// acc[v][t] += the row's products, tap by tap: the products that meet in a sum lie as far apart as
// they can, and no load stands between them, for processors that wait for either.
template <int kStride, int kN, int kWidth, int kVectors, int kPixels>
TW_INLINE void AddHeldRow(typename Vector<kN>::Type (&acc)[kVectors][kPixels], const float* in,
                          const float* w, int64_t channels) {
  constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
  const float *tap_at[kWidth], *column_at[kColumns];
#pragma GCC unroll 5
  for (int i = 0; i < kWidth; ++i) tap_at[i] = i == 0 ? w : Next(tap_at[i - 1], channels);
#pragma GCC unroll 11
  for (int i = 0; i < kColumns; ++i) column_at[i] = i == 0 ? in : Next(column_at[i - 1], channels);
  typename Vector<kN>::Type taps[kWidth][kVectors], columns[kColumns][kVectors];
#pragma GCC unroll 10
  for (int i = 0; i < kWidth * kVectors; ++i) {
    taps[i / kVectors][i % kVectors] = LoadHere<kN>(tap_at[i / kVectors] + i % kVectors * kN);
  }
#pragma GCC unroll 22
  for (int i = 0; i < kColumns * kVectors; ++i) {
    columns[i / kVectors][i % kVectors] = LoadHere<kN>(column_at[i / kVectors] + i % kVectors * kN);
  }
#pragma GCC unroll 5
  for (int tap = 0; tap < kWidth; ++tap) {
#pragma GCC unroll 10
    for (int i = 0; i < kPixels * kVectors; ++i) {
      const int t = i / kVectors, v = i % kVectors;
      acc[v][t] = AddProducts<kN>(acc[v][t], taps[tap][v], columns[t * kStride + tap][v]);
    }
  }
}

// The same of the columns that lie inside the image.
template <int kStride, int kN, int kWidth, int kVectors, int kPixels>
TW_INLINE void AddClippedRow(typename Vector<kN>::Type (&acc)[kVectors][kPixels],
                             const TapRow<kN, kWidth, kVectors>& row, const float* in,
                             int64_t channels, uint32_t columns) {
#pragma GCC unroll 11
  for (int column = 0; column < (kPixels - 1) * kStride + kWidth; ++column, in += channels) {
    if ((columns >> column & 1u) == 0) continue;
    typename Vector<kN>::Type a[kVectors];
    TapRow<kN, kWidth, kVectors>::LoadColumn(in, a);
    AddColumn<kStride>(acc, row, column, a);
  }
}

// What the channels of a tile share: where it begins, and what it sees of the filter. (By value: what
// is stored may alias the task.)
template <int kN>
struct TileAt {
  const float *in, *filter, *bias, *residual;
  float* out;
  int64_t channels, row_step, rows;
  uint32_t columns;  // bit i: column i of the input lies inside the image
  typename Vector<kN>::Type lo, hi;
  bool clamps;  // whether results have a bound
};

// Rows of the filter: any number, and the same of a tile that goes beyond a border; else how many, in
// one piece of code.
constexpr int kAnyRows = 0, kClippedRows = -1;

// acc[v][t] += all products of a filter kWidth wide; in and w are where its first row begins.
template <int kStride, int kRows, int kN, int kWidth, int kVectors, int kPixels>
TW_INLINE void AddRows(typename Vector<kN>::Type (&acc)[kVectors][kPixels],
                       TapRow<kN, kWidth, kVectors> row, const TileAt<kN>& tile, const float* in,
                       const float* w) {
  if constexpr (kRows >= 0 && HoldsRow<kWidth, kStride, kVectors, kPixels>()) {
    const int64_t rows = kRows > 0 ? kRows : tile.rows;
#pragma GCC unroll 3
    for (int64_t y = 0; y < rows; ++y) {
      AddHeldRow<kStride, kN, kWidth>(acc, in, w, tile.channels);
      in = Next(in, tile.row_step);
      w = Next(w, kWidth * tile.channels);
    }
    return;
  } else if constexpr (kRows > 0) {
    TapRow<kN, kWidth, kVectors> next;
    const auto load = [&] {
      next.LoadColumn(in, next.first);
      next.LoadTaps(w, tile.channels);
      w = Next(w, kWidth * tile.channels);
    };
    load();
#pragma GCC unroll 3
    for (int y = 0; y < kRows; ++y) {
      row = next;
      const float* columns = in;
      in = Next(in, tile.row_step);
      AddRow<kStride>(acc, row, columns, tile.channels, [&] {
        if (y + 1 < kRows) load();
      });
    }
    return;
  }
  for (int64_t y = 0; y < tile.rows; ++y, in += tile.row_step, w += kWidth * tile.channels) {
    row.LoadTaps(w, tile.channels);
    if constexpr (kRows == kClippedRows) {
      AddClippedRow<kStride>(acc, row, in, tile.channels, tile.columns);
    } else {
      row.LoadColumn(in, row.first);
      AddRow<kStride>(acc, row, in, tile.channels, [] {});
    }
  }
}

// kPixels pixels: the channels [c, c + kVectors * kN), of which the first `skip` are done.
template <int kPixels, int kN, bool kOneIn, int kWidth, int kStride, int kVectors, int kRows>
TW_INLINE void TileOfChannels(const DepthwiseShape& s, const TileAt<kN>& tile, int64_t c,
                              int skip) {
  typedef typename Vector<kN>::Type V;
  const float* in = Next(tile.in, kOneIn ? 0 : c);
  const float* w = Next(tile.filter, c);
  V acc[kVectors][kPixels];
  const float* bias = tile.bias != nullptr ? Next(tile.bias, c) : nullptr;
#pragma GCC unroll 10
  for (int i = 0; i < kPixels * kVectors; ++i) {
    const int t = i / kVectors, v = i % kVectors;
    acc[v][t] = bias != nullptr ? LoadHere<kN>(bias + v * kN) : V{};
  }
  if constexpr (kWidth > 0) {
    AddRows<kStride, kRows>(acc, TapRow<kN, kWidth, kVectors>(), tile, in, w);
  } else {
    const int64_t tap_step = s.dilation_w * s.in_c, pixel_step = s.stride_w * s.in_c;
    for (int64_t y = 0; y < tile.rows; ++y, in += tile.row_step) {
      for (int64_t i = 0; i < s.filter_w; ++i, w += tile.channels) {
        AddTap<kN, kOneIn>(acc, w, in + i * tap_step, pixel_step);
      }
    }
  }
  if (tile.residual != nullptr) {
#pragma GCC unroll 5
    for (int t = 0; t < kPixels; ++t) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        acc[v][t] += Vector<kN>::Read(tile.residual + t * tile.channels + c + v * kN);
      }
    }
  }
  if (tile.clamps) {
#pragma GCC unroll 10
    for (int i = 0; i < kPixels * kVectors; ++i) {
      V& sum = acc[i % kVectors][i / kVectors];
      sum = Bounded<kN>(sum, tile.lo, tile.hi);
    }
  }
  float* out = Next(tile.out, c);
#pragma GCC unroll 5
  for (int t = 0; t < kPixels; ++t, out = Next(out, tile.channels)) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      StoreFrom<kN>(out + v * kN, acc[v][t], skip);
    }
  }
}

// All channels of a tile.
template <int kPixels, int kN, bool kOneIn, int kWidth, int kStride, int kRows>
TW_INLINE void Channels(const DepthwiseShape& s, const TileAt<kN>& tile) {
  constexpr int kVectors = kWidth > 0 ? kVectorsAtOnce : 1;
  const int64_t channels = tile.channels;
  int64_t next = 0;
  if constexpr (kVectors > 1) {
    for (; next + kVectors * kN <= channels; next += kVectors * kN) {
      TileOfChannels<kPixels, kN, kOneIn, kWidth, kStride, kVectors, kRows>(s, tile, next, 0);
    }
  }
  for (; next < channels; next += kN) {
    const int64_t c = next + kN <= channels ? next : channels - kN;
    const int skip = static_cast<int>(next - c);
    TileOfChannels<kPixels, kN, kOneIn, kWidth, kStride, 1, kRows>(s, tile, c, skip);
  }
}

// All bits from `first` on.
TW_INLINE uint32_t BitsFrom(int64_t first) {
  return first <= 0 ? ~0u : (first < 32 ? ~0u << first : 0u);
}

template <int kN>
TW_INLINE TileAt<kN> TileFrom(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t channels = s.in_c * s.multiplier;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  TileAt<kN> tile;
  tile.channels = channels;
  tile.row_step = s.dilation_h * s.in_w * s.in_c;
  tile.rows = ky.end - ky.begin;
  tile.in = r.image + (y0 * s.in_w + x0) * s.in_c + ky.begin * tile.row_step;
  tile.filter = r.filter + ky.begin * s.filter_w * channels;
  tile.bias = r.bias;
  tile.residual = r.residual != nullptr ? r.residual + x * channels : nullptr;
  tile.out = r.out + x * channels;
  tile.columns = BitsFrom(-x0) & ~BitsFrom(s.in_w - x0);
  tile.lo = typename Vector<kN>::Type{} + s.lo;
  tile.hi = typename Vector<kN>::Type{} + s.hi;
  tile.clamps = s.lo > -__builtin_inff() || s.hi < __builtin_inff();
  return tile;
}

// kTile pixels from `x` on, every horizontal tap inside the image. kWidth 0: any filter width,
// stride and dilation; otherwise filter_w == kWidth, stride_w == kStride, dilation_w == 1.
template <int kN, bool kOneIn, int kWidth, int kStride>
void InnerTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const TileAt<kN> tile = TileFrom<kN>(s, r, ky, x);
  if constexpr (kUnrollsRows && kWidth == 3) {
    if (tile.rows == 3) return Channels<kTile, kN, kOneIn, kWidth, kStride, 3>(s, tile);
  }
  Channels<kTile, kN, kOneIn, kWidth, kStride, kAnyRows>(s, tile);
}

// The same where taps may lie outside the image. Borders as wide as those of images that keep their
// size are known to the compiler.
template <int kPixels, int kN, int kWidth, int kStride>
void BorderTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  TileAt<kN> tile = TileFrom<kN>(s, r, ky, x);
#if !defined(__OPTIMIZE_SIZE__)
  if constexpr (kN == kLanes) {
    constexpr int kColumns = (kPixels - 1) * kStride + kWidth, kBorder = kWidth / 2;
    constexpr uint32_t kAll = (1u << kColumns) - 1, kRight = kAll >> kBorder,
                       kLeft = kAll & ~((1u << kBorder) - 1);
    const auto take = [&](uint32_t columns) __attribute__((always_inline)) {
      tile.columns = columns;
      Channels<kPixels, kN, false, kWidth, kStride, kClippedRows>(s, tile);
    };
    tile.columns &= kAll;
    if (tile.columns == kLeft) return take(kLeft);
    if (kPixels == kTile && tile.columns == kRight) return take(kRight);
    if (kPixels != kTile && tile.columns == (kLeft & kRight)) return take(kLeft & kRight);
  }
#endif
  Channels<kPixels, kN, false, kWidth, kStride, kClippedRows>(s, tile);
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_DEPTHWISE_TILES_H_
