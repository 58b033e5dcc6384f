// Depthwise rows: tiles of kTile neighbouring output pixels, all channels of a tile in one sweep,
// so that a filter vector is loaded once for kTile pixels and an input vector once for all pixels
// that see it. Border pixels are computed one at a time with their taps clipped.
//
// The widest vector that the channels fill is used; when they are no multiple of it, the last
// vector overlaps its neighbour and stores its new lanes only. An image of one channel broadcasts
// each input value. Up to three channels with stride 1 lie in a vector as several whole pixels.
// What is left takes the general path, which gathers the input channel of every output lane.
#include "kernels/cpu/depthwise.h"
#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTile = 4;

// Vectors of channels that a tile takes at once: with two there are enough sums that none waits for
// the one before, on processors that have the registers.
#if (defined(__aarch64__) || defined(__AVX512F__)) && !defined(__OPTIMIZE_SIZE__)
constexpr int kVectorsAtOnce = 2;
#else
constexpr int kVectorsAtOnce = 1;
#endif

// Whether the three rows of a 3 x 3 filter are one piece of code.
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kUnrollsRows = false;
#else
constexpr bool kUnrollsRows = true;
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
template <int kN, bool kOneIn, int kVectors>
TW_INLINE void AddTap(typename Vector<kN>::Type (&acc)[kVectors][kTile], const float* w,
                      const float* in, int64_t pixel_step) {
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const typename Vector<kN>::Type wv = Vector<kN>::Read(w + v * kN);
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) {
      acc[v][t] += wv * Input<kN, kOneIn>(in + t * pixel_step + (kOneIn ? 0 : v * kN));
    }
  }
}

// p + n. (Compilers would derive all addresses of a tile from one, in more instructions than the
// products take.)
TW_INLINE const float* Next(const float* p, int64_t n) {
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
  __attribute__((always_inline)) void Load(const float* w, const float* in, int64_t channels) {
    LoadColumn(in, first);
#pragma GCC unroll 5
    for (int i = 0; i < kWidth; ++i, w = Next(w, channels)) LoadColumn(w, taps[i]);
  }
};

// acc[v][t] += the row's products. An input vector is loaded once for all pixels that see it, and
// before the products of the column to its left, for processors that wait for it; so is, by `load`,
// the next row.
template <int kStride, int kN, int kWidth, int kVectors, class LoadNext>
TW_INLINE void AddRow(typename Vector<kN>::Type (&acc)[kVectors][kTile],
                      const TapRow<kN, kWidth, kVectors>& row, const float* in, int64_t channels,
                      const LoadNext& load_next) {
  constexpr int kColumns = (kTile - 1) * kStride + kWidth;
  typename Vector<kN>::Type a[kVectors], next[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) a[v] = row.first[v];
#pragma GCC unroll 11
  for (int column = 0; column < kColumns; ++column) {
    in = Next(in, channels);
    if (column + 1 < kColumns) TapRow<kN, kWidth, kVectors>::LoadColumn(in, next);
    if (column + 2 == kColumns) load_next();
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) {
      const int tap = column - t * kStride;
      if (tap < 0 || tap >= kWidth) continue;
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        acc[v][t] = AddProducts<kN>(acc[v][t], row.taps[tap][v], a[v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) a[v] = next[v];
  }
}

// What the channels of a tile share: where it begins, and what it sees of the filter. (By value: what
// is stored may alias the task.)
template <int kN>
struct TileAt {
  const float *in, *filter, *bias, *residual;
  float* out;
  int64_t channels, row_step, rows;
  typename Vector<kN>::Type lo, hi;
};

// kTile pixels: the channels [c, c + kVectors * kN), of which the first `skip` are done. kRows: of the
// filter, in one piece of code; 0: any number.
template <int kN, bool kOneIn, int kWidth, int kStride, int kVectors, int kRows>
TW_INLINE void TileOfChannels(const DepthwiseShape& s, const TileAt<kN>& tile, int64_t c,
                              int skip) {
  typedef typename Vector<kN>::Type V;
  const float* in = tile.in + (kOneIn ? 0 : c);
  const float* w = tile.filter + c;
  V acc[kVectors][kTile];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V bias = tile.bias != nullptr ? Vector<kN>::Read(tile.bias + c + v * kN) : V{};
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) acc[v][t] = bias;
  }
  if constexpr (kWidth > 0) {
    TapRow<kN, kWidth, kVectors> row, next;
    const auto load = [&](TapRow<kN, kWidth, kVectors>* to) {
      to->Load(w, in, tile.channels);
      w = Next(w, kWidth * tile.channels);
    };
    if constexpr (kRows > 0) {
      load(&next);
#pragma GCC unroll 3
      for (int y = 0; y < kRows; ++y) {
        row = next;
        const float* columns = in;
        in = Next(in, tile.row_step);
        AddRow<kStride>(acc, row, columns, tile.channels, [&] {
          if (y + 1 < kRows) load(&next);
        });
      }
    }
    for (int64_t y = 0; kRows == 0 && y < tile.rows; ++y, in += tile.row_step) {
      load(&row);
      AddRow<kStride>(acc, row, in, tile.channels, [] {});
    }
  } else {
    const int64_t tap_step = s.dilation_w * s.in_c, pixel_step = s.stride_w * s.in_c;
    for (int64_t y = 0; y < tile.rows; ++y, in += tile.row_step) {
      for (int64_t i = 0; i < s.filter_w; ++i, w += tile.channels) {
        AddTap<kN, kOneIn>(acc, w, in + i * tap_step, pixel_step);
      }
    }
  }
  if (tile.residual != nullptr) {
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        acc[v][t] += Vector<kN>::Read(tile.residual + t * tile.channels + c + v * kN);
      }
    }
  }
  float* out = tile.out + c;
#pragma GCC unroll 4
  for (int t = 0; t < kTile; ++t, out += tile.channels) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      StoreFrom<kN>(out + v * kN, Bounded<kN>(acc[v][t], tile.lo, tile.hi), skip);
    }
  }
}

// All channels of a tile.
template <int kN, bool kOneIn, int kWidth, int kStride, int kRows>
TW_INLINE void Channels(const DepthwiseShape& s, const TileAt<kN>& tile) {
  constexpr int kVectors = kWidth > 0 ? kVectorsAtOnce : 1;
  const int64_t channels = tile.channels;
  int64_t next = 0;
  if constexpr (kVectors > 1) {
    for (; next + kVectors * kN <= channels; next += kVectors * kN) {
      TileOfChannels<kN, kOneIn, kWidth, kStride, kVectors, kRows>(s, tile, next, 0);
    }
  }
  for (; next < channels; next += kN) {
    const int64_t c = next + kN <= channels ? next : channels - kN;
    const int skip = static_cast<int>(next - c);
    TileOfChannels<kN, kOneIn, kWidth, kStride, 1, kRows>(s, tile, c, skip);
  }
}

// kTile pixels from `x` on, every horizontal tap inside the image. kWidth 0: any filter width,
// stride and dilation; otherwise filter_w == kWidth, stride_w == kStride, dilation_w == 1.
template <int kN, bool kOneIn, int kWidth, int kStride>
void InnerTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  typedef typename Vector<kN>::Type V;
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
  tile.lo = V{} + s.lo;
  tile.hi = V{} + s.hi;
  if constexpr (kUnrollsRows && kWidth == 3) {
    if (tile.rows == 3) return Channels<kN, kOneIn, kWidth, kStride, 3>(s, tile);
  }
  Channels<kN, kOneIn, kWidth, kStride, 0>(s, tile);
}

// One pixel with clipped taps.
template <int kN, bool kOneIn>
void Pixel(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  typedef typename Vector<kN>::Type V;
  const int64_t channels = s.in_c * s.multiplier, tap_step = s.dilation_w * s.in_c;
  const int64_t row_step = s.dilation_h * s.in_w * s.in_c;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  const float* corner = r.image + (y0 * s.in_w + x0) * s.in_c;
  const V lo = V{} + s.lo, hi = V{} + s.hi;
  for (int64_t next = 0; next < channels; next += kN) {
    const int64_t c = next + kN <= channels ? next : channels - kN;
    V acc = r.bias != nullptr ? Vector<kN>::Read(r.bias + c) : V{};
    for (int64_t y = ky.begin; y < ky.end; ++y) {
      const float* in = corner + y * row_step + (kOneIn ? 0 : c);
      const float* w = r.filter + y * s.filter_w * channels + c;
      for (int64_t i = kx.begin; i < kx.end; ++i) {
        acc += Vector<kN>::Read(w + i * channels) * Input<kN, kOneIn>(in + i * tap_step);
      }
    }
    const int64_t offset = x * channels + c;
    if (r.residual != nullptr) acc += Vector<kN>::Read(r.residual + offset);
    StoreFrom<kN>(r.out + offset, Bounded<kN>(acc, lo, hi), static_cast<int>(next - c));
  }
}

// One pixel, any multiplier, any number of channels.
void GeneralPixel(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t out_c = s.in_c * s.multiplier;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  const Vec lo = Vec{} + s.lo, hi = Vec{} + s.hi;
  for (int64_t c = 0; c < out_c; c += kLanes) {
    const int count = static_cast<int>(out_c - c < kLanes ? out_c - c : kLanes);
    int64_t source[kLanes];
    for (int i = 0; i < count; ++i) source[i] = (c + i) / s.multiplier;
    Vec acc = r.bias != nullptr ? LoadFirst(r.bias + c, count) : Vec{};
    for (int64_t y = ky.begin; y < ky.end; ++y) {
      for (int64_t i = kx.begin; i < kx.end; ++i) {
        const float* in =
            r.image + ((y0 + y * s.dilation_h) * s.in_w + x0 + i * s.dilation_w) * s.in_c;
        Vec v = Vec{} + in[source[0]];
        if (s.multiplier == 1) {
          v = LoadFirst(in + c, count);
        } else if (s.in_c > 1) {
          float lanes[kLanes] = {};
          for (int j = 0; j < count; ++j) lanes[j] = in[source[j]];
          v = Load(lanes);
        }
        acc += v * LoadFirst(r.filter + (y * s.filter_w + i) * out_c + c, count);
      }
    }
    const int64_t offset = x * out_c + c;
    if (r.residual != nullptr) acc += LoadFirst(r.residual + offset, count);
    StoreFirst(r.out + offset, Clamp(acc, lo, hi), count);
  }
}

// The weights of a tap for as many whole pixels as a vector holds.
template <int kChannels>
TW_INLINE Vec SpreadTap(const float* w) {
  Vec v = {};
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) v[i] = w[i % kChannels];
  return v;
}

// kVectors vectors of whole pixels from `x` on, stride 1, no multiplier, no residual, every tap
// inside the image. Reads and stores less than a pixel more.
template <int kChannels, int kVectors>
void FlatTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  constexpr int64_t kStep = kLanes / kChannels * kChannels;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const float* corner = r.image + (y0 * s.in_w + x - s.pad_left) * kChannels;
  Vec acc[kVectors];
  const Vec bias = r.bias != nullptr ? SpreadTap<kChannels>(r.bias) : Vec{};
  for (int t = 0; t < kVectors; ++t) acc[t] = bias;
  for (int64_t y = ky.begin; y < ky.end; ++y) {
    const float* in = corner + y * s.dilation_h * s.in_w * kChannels;
    const float* w = r.filter + y * s.filter_w * kChannels;
    for (int64_t i = 0; i < s.filter_w; ++i) {
      const Vec tap = SpreadTap<kChannels>(w + i * kChannels);
#pragma GCC unroll 4
      for (int t = 0; t < kVectors; ++t) {
        acc[t] += tap * Load(in + i * s.dilation_w * kChannels + t * kStep);
      }
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < kVectors; ++t) {
    Store(r.out + x * kChannels + t * kStep, Clamp(acc[t], Vec{} + s.lo, Vec{} + s.hi));
  }
}

// One pixel of a flat row, with clipped taps.
template <int kChannels>
void FlatPixel(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t x0 = x - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  float acc[kChannels];
  for (int c = 0; c < kChannels; ++c) acc[c] = r.bias != nullptr ? r.bias[c] : 0.0f;
  for (int64_t y = ky.begin; y < ky.end; ++y) {
    const float* in = r.image + ((y0 + y * s.dilation_h) * s.in_w + x0) * kChannels;
    const float* w = r.filter + y * s.filter_w * kChannels;
    for (int64_t i = kx.begin; i < kx.end; ++i) {
      for (int c = 0; c < kChannels; ++c) {
        acc[c] += in[i * s.dilation_w * kChannels + c] * w[i * kChannels + c];
      }
    }
  }
  for (int c = 0; c < kChannels; ++c) {
    const float most = s.lo > acc[c] ? s.lo : acc[c];
    r.out[x * kChannels + c] = s.hi < most ? s.hi : most;
  }
}

template <int kChannels>
void FlatRow(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky) {
  constexpr int kVectors = 4;
  constexpr int64_t kPixels = kLanes / kChannels;
  // Pixels [pad_left, inner_end) see no border.
  const int64_t inner = s.in_w - (s.filter_w - 1) * s.dilation_w + s.pad_left;
  const int64_t inner_end = inner < s.out_w ? inner : s.out_w;
  int64_t x = 0;
  for (; x < s.out_w && x < s.pad_left; ++x) FlatPixel<kChannels>(s, r, ky, x);
  // A pixel after a tile remains, as a tile takes some of it.
  for (; x + kVectors * kPixels < inner_end; x += kVectors * kPixels) {
    FlatTile<kChannels, kVectors>(s, r, ky, x);
  }
  for (; x + kPixels < inner_end; x += kPixels) FlatTile<kChannels, 1>(s, r, ky, x);
  for (; x < s.out_w; ++x) FlatPixel<kChannels>(s, r, ky, x);
}

using PixelFunction = void (*)(const DepthwiseShape&, const DepthwiseRow&, Taps, int64_t);

struct Path {
  PixelFunction tile = nullptr;  // null: no path for tiles
  PixelFunction pixel = GeneralPixel;
};

template <int kN>
Path PathOfWidth(const DepthwiseShape& s) {
  if (s.multiplier != 1) return {InnerTile<kN, true, 0, 0>, Pixel<kN, true>};
  Path path = {InnerTile<kN, false, 0, 0>, Pixel<kN, false>};
  if (s.dilation_w != 1) return path;
  if (s.filter_w == 3 && s.stride_w == 1) path.tile = InnerTile<kN, false, 3, 1>;
  if (s.filter_w == 3 && s.stride_w == 2) path.tile = InnerTile<kN, false, 3, 2>;
  if (kN < kLanes) return path;  // the other two are for real layers, which are wide
  if (s.filter_w == 5 && s.stride_w == 1) path.tile = InnerTile<kLanes, false, 5, 1>;
  if (s.filter_w == 5 && s.stride_w == 2) path.tile = InnerTile<kLanes, false, 5, 2>;
  return path;
}

Path ChoosePath(const DepthwiseShape& s) {
  const int64_t channels = s.in_c * s.multiplier;
  if (s.multiplier != 1 && s.in_c != 1) return Path();
  if (channels >= kLanes) return PathOfWidth<kLanes>(s);
  if constexpr (kLanes > 8) {
    if (channels >= 8) return PathOfWidth<8>(s);
  }
  if constexpr (kLanes > 4) {
    if (channels >= 4) return PathOfWidth<4>(s);
  }
  return Path();
}

void Row(const DepthwiseShape& s, const DepthwiseRow& r) {
  const Taps ky = ClipTaps(r.out_y * s.stride_h - s.pad_top, s.filter_h, s.dilation_h, s.in_h);
  if (s.multiplier == 1 && s.in_c < 4 && s.stride_w == 1 && r.residual == nullptr) {
    if (s.in_c == 1) return FlatRow<1>(s, r, ky);
    if (s.in_c == 2) return FlatRow<2>(s, r, ky);
    if (s.in_c == 3) return FlatRow<3>(s, r, ky);
  }
  const Path path = ChoosePath(s);
  int64_t x = 0;
  if (path.tile != nullptr) {
    // Pixels [x, inner_end) see no border.
    const int64_t reach = (s.filter_w - 1) * s.dilation_w;
    const int64_t last_origin = s.in_w - 1 - reach + s.pad_left;
    int64_t inner_end = last_origin < 0 ? 0 : last_origin / s.stride_w + 1;
    if (inner_end > s.out_w) inner_end = s.out_w;
    for (; x < s.out_w && x * s.stride_w < s.pad_left; ++x) path.pixel(s, r, ky, x);
    const int64_t inner_begin = x;
    for (; x + kTile <= inner_end; x += kTile) path.tile(s, r, ky, x);
    if (x < inner_end && inner_end - inner_begin >= kTile && r.residual == nullptr) {
      path.tile(s, r, ky, inner_end - kTile);  // computes some pixels again: the same bits
      x = inner_end;
    }
  }
  for (; x < s.out_w; ++x) path.pixel(s, r, ky, x);
}

}  // namespace

extern const DepthwiseKernels kDepthwiseKernels;
const DepthwiseKernels kDepthwiseKernels = {kLanes, Row};

}  // namespace TW_ISA
}  // namespace topwork
