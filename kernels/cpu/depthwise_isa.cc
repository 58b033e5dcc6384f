// Depthwise rows, in tiles of kTile pixels (depthwise_tiles.h). What tiles leave out, at borders where
// there is no code for such tiles, is computed one pixel at a time with its taps clipped.
//
// The widest vector that the channels fill is used; when they are no multiple of it, the last
// vector overlaps its neighbour and stores its new lanes only. An image of one channel broadcasts
// each input value. Up to three channels with stride 1 lie in a vector as several whole pixels.
// What is left takes the general path, which gathers the input channel of every output lane.
#include "kernels/contract/selection.h"
#include "kernels/cpu/depthwise_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

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
  PixelFunction border = nullptr;  // a tile that goes beyond a border; null: pixels do
  PixelFunction wide = nullptr;    // the same of kWideTile pixels; null: there is none
};

template <int kN, int kWidth, int kStride>
void TakeTiles(Path* path) {
  path->tile = InnerTile<kN, false, kWidth, kStride>;
  if constexpr (kClipsTiles) path->border = BorderTile<kTile, kN, kWidth, kStride>;
#if defined(__AVX512F__) && !defined(__OPTIMIZE_SIZE__)
  if constexpr (kN == kLanes && kStride == 1)
    path->wide = BorderTile<kWideTile, kN, kWidth, kStride>;
#endif
}

template <int kN>
Path PathOfWidth(const DepthwiseShape& s) {
  if (!kShortLoops && s.multiplier != 1) return {InnerTile<kN, true, 0, 0>, Pixel<kN, true>};
  Path path = {InnerTile<kN, false, 0, 0>, Pixel<kN, false>};
  if (kShortLoops || s.dilation_w != 1) return path;
  if (s.filter_w == 3 && s.stride_w == 1) TakeTiles<kN, 3, 1>(&path);
  if (s.filter_w == 3 && s.stride_w == 2) TakeTiles<kN, 3, 2>(&path);
  if constexpr (kN == kLanes) {  // the other two are for real layers, which are wide
    if (s.filter_w == 5 && s.stride_w == 1) TakeTiles<kN, 5, 1>(&path);
    if (s.filter_w == 5 && s.stride_w == 2) TakeTiles<kN, 5, 2>(&path);
  }
  return path;
}

Path ChoosePath(const DepthwiseShape& s) {
  const int64_t channels = s.in_c * s.multiplier;
  if (s.multiplier != 1 && (kShortLoops || s.in_c != 1)) return Path();
  if (channels >= kLanes) return PathOfWidth<kLanes>(s);
  if constexpr (kLanes > 8) {
    if (channels >= 8) return PathOfWidth<8>(s);
  }
  if constexpr (kLanes > 4) {
    if (channels >= 4) return PathOfWidth<4>(s);
  }
  return Path();
}

// The pixels that tiles take where they may go beyond borders: all, or the first ones. Returns how
// many they are.
int64_t RowOfTiles(const DepthwiseShape& s, const DepthwiseRow& r, const Path& path, Taps ky) {
  const auto tile = [&](int64_t x) {
    const int64_t x0 = x * s.stride_w - s.pad_left;
    const bool inside = x0 >= 0 && x0 + (kTile - 1) * s.stride_w + s.filter_w <= s.in_w;
    (inside ? path.tile : path.border)(s, r, ky, x);
  };
  int64_t x = 0;
  if (path.wide != nullptr && s.out_w >= kWideTile && s.out_w % kTile == 1) {
    path.wide(s, r, ky, x);
    x = kWideTile;
  }
  for (; x + kTile <= s.out_w; x += kTile) tile(x);
  if (x == 0 || x == s.out_w || r.residual != nullptr) return x;
  tile(s.out_w - kTile);  // computes some pixels again: the same bits
  return s.out_w;
}

void Row(const DepthwiseShape& s, const DepthwiseRow& r) {
  const Taps ky = ClipTaps(r.out_y * s.stride_h - s.pad_top, s.filter_h, s.dilation_h, s.in_h);
  if (!kShortLoops && s.multiplier == 1 && s.in_c < 4 && s.stride_w == 1 && r.residual == nullptr) {
    if (s.in_c == 1) return FlatRow<1>(s, r, ky);
    if (s.in_c == 2) return FlatRow<2>(s, r, ky);
    if (s.in_c == 3) return FlatRow<3>(s, r, ky);
  }
  const Path path = ChoosePath(s);
  int64_t x = 0;
  if (path.border != nullptr) {
    x = RowOfTiles(s, r, path, ky);
  } else if (path.tile != nullptr) {
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
