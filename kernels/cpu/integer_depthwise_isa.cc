// Depthwise convolution of quantized images: a vector of channels of a few pixels at a time, values
// widened to 32-bit lanes on loading, weights kept in 16 bits without their zero point.
//
// Pixels that see no border add up raw values and correct the zero point through the bias; the
// others subtract it from every value, so that taps outside the image count as real zero.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTile = 4;  // pixels

struct Taps {
  int64_t begin = 0, end = 0;
};

Taps ClipTaps(int64_t origin, int64_t filter, int64_t dilation, int64_t in) {
  Taps taps{0, filter};
  if (origin < 0) taps.begin = (-origin + dilation - 1) / dilation;
  if (origin + (filter - 1) * dilation >= in) {
    taps.end = in > origin ? (in - origin + dilation - 1) / dilation : 0;
  }
  if (taps.end < taps.begin) taps.end = taps.begin;
  return taps;
}

template <bool kUnsigned>
TW_INLINE IVec Values(const uint8_t* p) {
  return kUnsigned ? WidenUInt8(p) : WidenInt8(p);
}

// acc + a * w for |a|, |w| < 2^15. x86 has it on halves of lanes: the upper half of w is zero.
TW_INLINE IVec MultiplyAdd(IVec acc, IVec a, const int16_t* w) {
#if defined(__SSE2__)
  typedef uint16_t Half __attribute__((vector_size(2 * kLanes), aligned(1), may_alias));
  return DotHalves(acc, a, __builtin_convertvector(*reinterpret_cast<const Half*>(w), IVec));
#else
  return acc + a * WidenInt16(w);
#endif
}

// Writes kLanes channels of a pixel; `scale`, `float_bias` and `out` are those of channel 0 of it.
TW_INLINE void Finish(const IntegerDepthwiseRow& r, IVec acc, int64_t offset, int64_t c) {
  const Vec lo = Vec{} + r.lo, hi = Vec{} + r.hi;
  const Vec scale = Load(r.scale + c);
  if (r.ending == IntegerEnding::kBytes) {
    const IVec v = RoundToInts(Clamp(ToFloat(acc) * scale, lo, hi)) + r.zero_point;
    StoreBytes(static_cast<uint8_t*>(r.out) + offset + c, v, kLanes);
  } else {
    const Vec bias = r.float_bias != nullptr ? Load(r.float_bias + c) : Vec{};
    Store(static_cast<float*>(r.out) + offset + c,
          Clamp(ToFloat(acc) * (scale * r.in_scale) + bias, lo, hi));
  }
}

// kTile pixels from x on without a border; multiplier 1, at least kLanes channels.
template <bool kUnsigned>
void InnerTile(const DepthwiseShape& s, const IntegerDepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t channels = s.in_c, row_step = s.dilation_h * s.in_w * channels;
  const int64_t tap_step = s.dilation_w * channels, pixel_step = s.stride_w * channels;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top, x0 = x * s.stride_w - s.pad_left;
  const uint8_t* corner = static_cast<const uint8_t*>(r.image) + (y0 * s.in_w + x0) * channels;
  for (int64_t next = 0; next < channels; next += kLanes) {
    const int64_t c = next + kLanes <= channels ? next : channels - kLanes;
    const IVec bias = LoadInts(r.folded_bias + c);
    IVec acc[kTile] = {bias, bias, bias, bias};
    for (int64_t y = ky.begin; y < ky.end; ++y) {
      const uint8_t* in = corner + y * row_step + c;
      const int16_t* w = r.filter + y * s.filter_w * channels + c;
      for (int64_t i = 0; i < s.filter_w; ++i, in += tap_step, w += channels) {
#pragma GCC unroll 4
        for (int t = 0; t < kTile; ++t) {
          acc[t] = MultiplyAdd(acc[t], Values<kUnsigned>(in + t * pixel_step), w);
        }
      }
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) Finish(r, acc[t], (x + t) * channels, c);
  }
}

// One pixel with clipped taps; multiplier 1, at least kLanes channels.
template <bool kUnsigned>
void Pixel(const DepthwiseShape& s, const IntegerDepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t channels = s.in_c, row_step = s.dilation_h * s.in_w * channels;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top, x0 = x * s.stride_w - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  const uint8_t* corner = static_cast<const uint8_t*>(r.image) + (y0 * s.in_w + x0) * channels;
  for (int64_t next = 0; next < channels; next += kLanes) {
    const int64_t c = next + kLanes <= channels ? next : channels - kLanes;
    IVec acc = r.bias != nullptr ? LoadInts(r.bias + c) : IVec{};
    for (int64_t y = ky.begin; y < ky.end; ++y) {
      for (int64_t i = kx.begin; i < kx.end; ++i) {
        const uint8_t* in = corner + y * row_step + i * s.dilation_w * channels + c;
        acc = MultiplyAdd(acc, Values<kUnsigned>(in) - r.in_zero,
                          r.filter + (y * s.filter_w + i) * channels + c);
      }
    }
    Finish(r, acc, x * channels, c);
  }
}

int32_t ValueAt(const IntegerDepthwiseRow& r, int64_t index) {
  switch (r.element) {
    case 0:
      return static_cast<const int8_t*>(r.image)[index];
    case 1:
      return static_cast<const uint8_t*>(r.image)[index];
    default:
      return static_cast<const int16_t*>(r.image)[index];
  }
}

// One pixel of anything: 16-bit images, multipliers, few channels.
void AnyPixel(const DepthwiseShape& s, const IntegerDepthwiseRow& r, Taps ky, int64_t x) {
  const int64_t out_c = s.in_c * s.multiplier;
  const int64_t y0 = r.out_y * s.stride_h - s.pad_top, x0 = x * s.stride_w - s.pad_left;
  const Taps kx = ClipTaps(x0, s.filter_w, s.dilation_w, s.in_w);
  for (int64_t c = 0; c < out_c; ++c) {
    int64_t sum = 0;
    for (int64_t y = ky.begin; y < ky.end; ++y) {
      for (int64_t i = kx.begin; i < kx.end; ++i) {
        const int64_t in =
            ((y0 + y * s.dilation_h) * s.in_w + x0 + i * s.dilation_w) * s.in_c + c / s.multiplier;
        sum += static_cast<int64_t>(ValueAt(r, in) - r.in_zero) *
               r.filter[(y * s.filter_w + i) * out_c + c];
      }
    }
    const int64_t at = x * out_c + c;
    if (r.ending == IntegerEnding::kWide) {
      static_cast<int64_t*>(r.out)[at] = sum;
    } else if (r.ending == IntegerEnding::kBytes) {
      const int32_t acc = static_cast<int32_t>(sum) + (r.bias != nullptr ? r.bias[c] : 0);
      Vec v = Vec{} + static_cast<float>(acc) * r.scale[c];
      v = Clamp(v, Vec{} + r.lo, Vec{} + r.hi);
      static_cast<uint8_t*>(r.out)[at] = static_cast<uint8_t>(RoundToInts(v)[0] + r.zero_point);
    } else {
      const float bias = r.float_bias != nullptr ? r.float_bias[c] : 0.0f;
      const float f = static_cast<float>(sum) * (r.scale[c] * r.in_scale) + bias;
      static_cast<float*>(r.out)[at] = Clamp(Vec{} + f, Vec{} + r.lo, Vec{} + r.hi)[0];
    }
  }
}

using PixelFunction = void (*)(const DepthwiseShape&, const IntegerDepthwiseRow&, Taps, int64_t);

void Row(const DepthwiseShape& s, const IntegerDepthwiseRow& r) {
  const Taps ky = ClipTaps(r.out_y * s.stride_h - s.pad_top, s.filter_h, s.dilation_h, s.in_h);
  const bool vectors = s.multiplier == 1 && s.in_c >= kLanes && r.element != 2;
  const bool whole = ky.begin == 0 && ky.end == s.filter_h;
  const PixelFunction pixel = !vectors ? AnyPixel : r.element == 1 ? Pixel<true> : Pixel<false>;
  int64_t x = 0;
  if (vectors && whole) {
    const PixelFunction tile = r.element == 1 ? InnerTile<true> : InnerTile<false>;
    const int64_t last_origin = s.in_w - 1 - (s.filter_w - 1) * s.dilation_w + s.pad_left;
    int64_t inner_end = last_origin < 0 ? 0 : last_origin / s.stride_w + 1;
    if (inner_end > s.out_w) inner_end = s.out_w;
    for (; x < s.out_w && x * s.stride_w < s.pad_left; ++x) pixel(s, r, ky, x);
    const int64_t inner_begin = x;
    for (; x + kTile <= inner_end; x += kTile) tile(s, r, ky, x);
    if (x < inner_end && inner_end - inner_begin >= kTile) {
      tile(s, r, ky, inner_end - kTile);  // computes some pixels again
      x = inner_end;
    }
  }
  for (; x < s.out_w; ++x) pixel(s, r, ky, x);
}

}  // namespace

void IntegerDepthwiseRowOf(const DepthwiseShape& shape, const IntegerDepthwiseRow& row);
void IntegerDepthwiseRowOf(const DepthwiseShape& shape, const IntegerDepthwiseRow& row) {
  Row(shape, row);
}

}  // namespace TW_ISA
}  // namespace topwork
