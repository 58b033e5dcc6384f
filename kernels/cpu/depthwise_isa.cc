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

// Adds the residual, clamps and stores lanes [skip, kN) of a result at `offset` of the row.
template <int kN, typename V>
TW_INLINE void Finish(const DepthwiseRow& r, V v, V lo, V hi, int64_t offset, int skip) {
  if (r.residual != nullptr) v += Vector<kN>::Read(r.residual + offset);
  if constexpr (kN == kLanes) {
    v = Clamp(v, lo, hi);
  } else {
    v = lo > v ? lo : v;
    v = hi < v ? hi : v;
  }
  if (skip == 0) {
    Vector<kN>::Write(r.out + offset, v);
    return;
  }
  float lanes[kN];
  Vector<kN>::Write(lanes, v);
  StoreLanes(r.out + offset, lanes, skip, kN);
}

// Input values for a vector of output channels: `in` points to the first of them, or (kOneIn) to
// the pixel's only channel.
template <int kN, bool kOneIn>
TW_INLINE typename Vector<kN>::Type Input(const float* in) {
  typedef typename Vector<kN>::Type V;
  return kOneIn ? V{} + *in : Vector<kN>::Read(in);
}

// acc[t] += the tap `w` times the input of pixel t.
template <int kN, bool kOneIn>
TW_INLINE void AddTap(typename Vector<kN>::Type* acc, const float* w, const float* in,
                      int64_t pixel_step) {
  const typename Vector<kN>::Type wv = Vector<kN>::Read(w);
#pragma GCC unroll 4
  for (int t = 0; t < kTile; ++t) acc[t] += wv * Input<kN, kOneIn>(in + t * pixel_step);
}

// kTile pixels from `x` on, every horizontal tap inside the image. kWidth 0: any filter width,
// stride and dilation; otherwise filter_w == kWidth, stride_w == kStride, dilation_w == 1.
template <int kN, bool kOneIn, int kWidth, int kStride>
void InnerTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  typedef typename Vector<kN>::Type V;
  const int64_t channels = s.in_c * s.multiplier, row_step = s.dilation_h * s.in_w * s.in_c;
  const int64_t taps_w = kWidth > 0 ? kWidth : s.filter_w;
  const int64_t tap_step = (kWidth > 0 ? 1 : s.dilation_w) * s.in_c;
  const int64_t pixel_step = (kWidth > 0 ? kStride : s.stride_w) * s.in_c;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  const float* corner = r.image + (y0 * s.in_w + x0) * s.in_c + ky.begin * row_step;
  const float* filter = r.filter + ky.begin * taps_w * channels;
  const V lo = V{} + s.lo, hi = V{} + s.hi;
  for (int64_t next = 0; next < channels; next += kN) {
    const int64_t c = next + kN <= channels ? next : channels - kN;
    const float* in = corner + (kOneIn ? 0 : c);
    const float* w = filter + c;
    const V bias = r.bias != nullptr ? Vector<kN>::Read(r.bias + c) : V{};
    V acc[kTile] = {bias, bias, bias, bias};
    for (int64_t y = ky.begin; y < ky.end; ++y, in += row_step, w += taps_w * channels) {
      if constexpr (kWidth > 0) {
#pragma GCC unroll 5
        for (int i = 0; i < kWidth; ++i) {
          AddTap<kN, kOneIn>(acc, w + i * channels, in + i * tap_step, pixel_step);
        }
      } else {
        for (int64_t i = 0; i < taps_w; ++i) {
          AddTap<kN, kOneIn>(acc, w + i * channels, in + i * tap_step, pixel_step);
        }
      }
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) {
      Finish<kN>(r, acc[t], lo, hi, (x + t) * channels + c, static_cast<int>(next - c));
    }
  }
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
    Finish<kN>(r, acc, lo, hi, x * channels + c, static_cast<int>(next - c));
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
