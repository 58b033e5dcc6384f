// Depthwise rows: tiles of kTile neighbouring output pixels, all channels of a tile in one sweep,
// so that a filter vector is loaded once for kTile pixels and an input vector once for all pixels
// that see it. Border pixels are computed one at a time with their taps clipped.
//
// When the channels are no multiple of a vector the last vector overlaps its neighbour and stores
// its new lanes only. A depth multiplier and very few channels take the general path, which gathers
// the input channel of every output lane.
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

// Adds the residual, clamps and stores lanes [skip, kLanes) of a result at `offset` of the row.
TW_INLINE void Finish(const DepthwiseRow& r, Vec v, Vec lo, Vec hi, int64_t offset, int skip) {
  if (r.residual != nullptr) v += Load(r.residual + offset);
  v = Clamp(v, lo, hi);
  if (skip == 0) {
    Store(r.out + offset, v);
    return;
  }
  float lanes[kLanes];
  Store(lanes, v);
  CopyFew(r.out + offset + skip, lanes + skip, kLanes - skip);
}

// Calls body(channel, lanes to skip) for every vector of channels; channels ≥ kLanes.
template <typename Body>
TW_INLINE void ForEachVector(int64_t channels, const Body& body) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) body(c, 0);
  if (c < channels) body(channels - kLanes, static_cast<int>(c - (channels - kLanes)));
}

// kTile pixels from `x` on, every horizontal tap inside the image. kWidth 0: any filter width,
// stride and dilation; otherwise filter_w == kWidth, stride_w == kStride, dilation_w == 1.
template <int kWidth, int kStride>
void InnerTile(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t channels = s.in_c, row_step = s.dilation_h * s.in_w * channels;
  const int64_t taps_w = kWidth > 0 ? kWidth : s.filter_w;
  const int64_t tap_step = (kWidth > 0 ? 1 : s.dilation_w) * channels;
  const int64_t pixel_step = (kWidth > 0 ? kStride : s.stride_w) * channels;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  const float* corner = r.image + (y0 * s.in_w + x0) * channels + ky.begin * row_step;
  const float* filter = r.filter + ky.begin * taps_w * channels;
  const Vec lo = Vec{} + s.lo, hi = Vec{} + s.hi;
  ForEachVector(
      channels, [&](int64_t c, int skip) __attribute__((always_inline)) {
        const float* in = corner + c;
        const float* w = filter + c;
        const Vec bias = r.bias != nullptr ? Load(r.bias + c) : Vec{};
        Vec acc[kTile] = {bias, bias, bias, bias};
        for (int64_t y = ky.begin; y < ky.end; ++y) {
#pragma GCC unroll 5
          for (int64_t kx = 0; kx < taps_w; ++kx) {
            const Vec wv = Load(w + kx * channels);
#pragma GCC unroll 4
            for (int t = 0; t < kTile; ++t)
              acc[t] += wv * Load(in + t * pixel_step + kx * tap_step);
          }
          in += row_step;
          w += taps_w * channels;
        }
#pragma GCC unroll 4
        for (int t = 0; t < kTile; ++t) Finish(r, acc[t], lo, hi, (x + t) * channels + c, skip);
      });
}

// One pixel with clipped taps.
void Pixel(const DepthwiseShape& s, const DepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t channels = s.in_c;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top;
  const int64_t x0 = x * s.stride_w - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  const Vec lo = Vec{} + s.lo, hi = Vec{} + s.hi;
  ForEachVector(
      channels, [&](int64_t c, int skip) __attribute__((always_inline)) {
        Vec acc = r.bias != nullptr ? Load(r.bias + c) : Vec{};
        for (int64_t y = ky.begin; y < ky.end; ++y) {
          const float* in =
              r.image +
              ((y0 + y * s.dilation_h) * s.in_w + x0 + kx.begin * s.dilation_w) * channels;
          const float* w = r.filter + (y * s.filter_w + kx.begin) * channels;
          for (int64_t i = kx.begin; i < kx.end; ++i) {
            acc += Load(w + c) * Load(in + c);
            in += s.dilation_w * channels;
            w += channels;
          }
        }
        Finish(r, acc, lo, hi, x * channels + c, skip);
      });
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

using TileFunction = void (*)(const DepthwiseShape&, const DepthwiseRow&, Taps, int64_t);

TileFunction ChooseTile(const DepthwiseShape& s) {
  if (s.dilation_w == 1 && s.filter_w == 3 && s.stride_w == 1) return InnerTile<3, 1>;
  if (s.dilation_w == 1 && s.filter_w == 3 && s.stride_w == 2) return InnerTile<3, 2>;
  if (s.dilation_w == 1 && s.filter_w == 5 && s.stride_w == 1) return InnerTile<5, 1>;
  if (s.dilation_w == 1 && s.filter_w == 5 && s.stride_w == 2) return InnerTile<5, 2>;
  return InnerTile<0, 0>;
}

void Row(const DepthwiseShape& s, const DepthwiseRow& r) {
  const Taps ky = ClipTaps(r.out_y * s.stride_h - s.pad_top, s.filter_h, s.dilation_h, s.in_h);
  if (s.multiplier != 1 || s.in_c < kLanes) {
    for (int64_t x = 0; x < s.out_w; ++x) GeneralPixel(s, r, ky, x);
    return;
  }
  // Pixels [x, inner_end) see no border.
  const int64_t reach = (s.filter_w - 1) * s.dilation_w;
  const int64_t last_origin = s.in_w - 1 - reach + s.pad_left;
  int64_t inner_end = last_origin < 0 ? 0 : last_origin / s.stride_w + 1;
  if (inner_end > s.out_w) inner_end = s.out_w;
  const TileFunction tile = ChooseTile(s);
  int64_t x = 0;
  for (; x < s.out_w && x * s.stride_w < s.pad_left; ++x) Pixel(s, r, ky, x);
  const int64_t inner_begin = x;
  for (; x + kTile <= inner_end; x += kTile) tile(s, r, ky, x);
  if (x < inner_end && inner_end - inner_begin >= kTile && r.residual == nullptr) {
    tile(s, r, ky, inner_end - kTile);  // computes some pixels again: the same bits
    x = inner_end;
  }
  for (; x < s.out_w; ++x) Pixel(s, r, ky, x);
}

}  // namespace

extern const DepthwiseKernels kDepthwiseKernels;
const DepthwiseKernels kDepthwiseKernels = {kLanes, Row};

}  // namespace TW_ISA
}  // namespace topwork
