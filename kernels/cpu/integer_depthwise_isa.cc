// Depthwise convolution of quantized images that have their padding around them: a vector of
// channels of a few pixels at a time, values widened to 32-bit lanes on loading, weights kept in 16
// bits without their zero point. The values' zero point is corrected through the bias.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kTile = 4;  // pixels

template <bool kUnsigned>
TW_INLINE IVec Values(const uint8_t* p) {
  return kUnsigned ? WidenUInt8(p) : WidenInt8(p);
}

// 16-bit weights in the lower halves of lanes. x86 multiplies pairs of halves and wants the upper
// half to be zero.
TW_INLINE IVec Weights(const int16_t* w) {
#if defined(__SSE2__)
  return WidenInt16(w) & 0xFFFF;
#else
  return WidenInt16(w);
#endif
}

// acc + a * w for |a|, |w| < 2^15.
TW_INLINE IVec MultiplyAdd(IVec acc, IVec a, IVec w) {
#if defined(__SSE2__)
  return DotHalves(acc, a, w);
#else
  return acc + a * w;
#endif
}

// Vector i holds the sums of kLanes elements of the row from at[i], of the channels from c[i].
template <int kN>
TW_INLINE void FinishBytes(const IntegerDepthwiseRow& r, const IVec (&acc)[kN],
                           const int64_t (&at)[kN], const int64_t (&c)[kN]) {
  const ColumnFactors& f = r.factors;
  const ByteRange range =
      MakeByteRange(r.zero_point, r.least + r.zero_point, r.most + r.zero_point);
  IVec v[kN];
  if (f.small) {
#pragma GCC unroll 4
    for (int i = 0; i < kN; ++i) {
      v[i] = ApplySmallFactors(LoadSmallFactors(f.mantissa + c[i], f.right + c[i]), acc[i]);
    }
  } else {
#pragma GCC unroll 4
    for (int i = 0; i < kN; ++i) {
      const VectorFactors factors = LoadFactors(
          f.mantissa + c[i], f.left != nullptr ? f.left + c[i] : nullptr, f.right + c[i]);
      v[i] = ApplyFactors(factors, acc[i]);
    }
  }
  const ByteVec bytes = PackInts(range, v);
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) StorePart(static_cast<uint8_t*>(r.out) + at[i], bytes, i);
}

TW_INLINE void FinishFloat(const IntegerDepthwiseRow& r, IVec acc, int64_t at, int64_t c) {
  const Vec lo = Vec{} + r.lo, hi = Vec{} + r.hi;
  const Vec scale = Load(r.scale + c);
  const Vec bias = r.float_bias != nullptr ? Load(r.float_bias + c) : Vec{};
  Store(static_cast<float*>(r.out) + at, Clamp(ToFloat(acc) * (scale * r.in_scale) + bias, lo, hi));
}

template <int kN>
TW_INLINE void Finish(const IntegerDepthwiseRow& r, const IVec (&acc)[kN], const int64_t (&at)[kN],
                      const int64_t (&c)[kN]) {
  if (r.ending == IntegerEnding::kBytes) {
    FinishBytes(r, acc, at, c);
    return;
  }
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) FinishFloat(r, acc[i], at[i], c[i]);
}

// kPixels pixels from x on; multiplier 1, at least kLanes channels. kWidth and kStride are those of
// rows without dilation: every input column is then widened once for all pixels that see it. Or 0:
// any width, stride and dilation.
template <bool kUnsigned, int kPixels, int kWidth, int kStride>
void Pixels(const DepthwiseShape& s, const IntegerDepthwiseRow& r, int64_t x) {
  const int64_t channels = s.in_c, row_step = s.dilation_h * s.in_w * channels;
  const int64_t tap_step = s.dilation_w * channels, pixel_step = s.stride_w * channels;
  const uint8_t* corner = static_cast<const uint8_t*>(r.image) +
                          (r.out_y * s.stride_h * s.in_w + x * s.stride_w) * channels;
  for (int64_t next = 0; next < channels; next += kLanes) {
    const int64_t c = next + kLanes <= channels ? next : channels - kLanes;
    const IVec bias = LoadInts(r.bias + c);
    IVec acc[kPixels];
#pragma GCC unroll 4
    for (int t = 0; t < kPixels; ++t) acc[t] = bias;
    const int16_t* w = r.filter + c;
    for (int64_t y = 0; y < s.filter_h; ++y) {
      const uint8_t* in = corner + y * row_step + c;
      if (kWidth > 0) {
        constexpr int kTaps = kWidth > 0 ? kWidth : 1;
        IVec wv[kTaps];
#pragma GCC unroll 5
        for (int i = 0; i < kTaps; ++i, w += channels) wv[i] = Weights(w);
#pragma GCC unroll 16
        for (int column = 0; column < (kPixels - 1) * kStride + kTaps; ++column, in += channels) {
          const IVec a = Values<kUnsigned>(in);
#pragma GCC unroll 4
          for (int t = 0; t < kPixels; ++t) {
            const int tap = column - t * kStride;
            if (tap >= 0 && tap < kTaps) acc[t] = MultiplyAdd(acc[t], a, wv[tap]);
          }
        }
        continue;
      }
      for (int64_t i = 0; i < s.filter_w; ++i, in += tap_step, w += channels) {
        const IVec wv = Weights(w);
#pragma GCC unroll 4
        for (int t = 0; t < kPixels; ++t) {
          acc[t] = MultiplyAdd(acc[t], Values<kUnsigned>(in + t * pixel_step), wv);
        }
      }
    }
    int64_t at[kPixels], first[kPixels];
#pragma GCC unroll 4
    for (int t = 0; t < kPixels; ++t) {
      at[t] = (x + t) * channels + c;
      first[t] = c;
    }
    Finish(r, acc, at, first);
  }
}

// kVectors vectors of a flat row, from element `at` on.
template <bool kUnsigned, int kVectors>
void FlatVectors(const DepthwiseShape& s, const IntegerDepthwiseRow& r, int64_t at) {
  const int64_t channels = s.in_c * s.multiplier;
  const uint8_t* top =
      static_cast<const uint8_t*>(r.image) + r.out_y * s.stride_h * r.row_bytes + at;
  int64_t phase[kVectors], element[kVectors];
  IVec acc[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    element[v] = at + v * kLanes;
    phase[v] = element[v] % channels;
    acc[v] = LoadInts(r.bias + phase[v]);
  }
  const int16_t* w = r.filter;
  // From tap to tap, without dividing each time.
  const int64_t step = s.dilation_w / s.stride_w * channels, step_phase = s.dilation_w % s.stride_w;
  for (int64_t y = 0; y < s.filter_h; ++y) {
    const uint8_t* row = top + y * s.dilation_h * r.row_bytes;
    int64_t tap_phase = 0;
    for (int64_t i = 0; i < s.filter_w; ++i, w += r.spread) {
      const uint8_t* in = row + tap_phase * r.phase_bytes;
      row += step;
      tap_phase += step_phase;
      if (tap_phase >= s.stride_w) {
        tap_phase -= s.stride_w;
        row += channels;
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        acc[v] = MultiplyAdd(acc[v], Values<kUnsigned>(in + v * kLanes), Weights(w + phase[v]));
      }
    }
  }
  Finish(r, acc, element, phase);
}

template <bool kUnsigned>
void FlatRow(const DepthwiseShape& s, const IntegerDepthwiseRow& r) {
  const int64_t n = s.out_w * s.in_c * s.multiplier;
  int64_t at = 0;
  for (; at + 4 * kLanes <= n; at += 4 * kLanes) FlatVectors<kUnsigned, 4>(s, r, at);
  for (; at + kLanes <= n; at += kLanes) FlatVectors<kUnsigned, 1>(s, r, at);
  if (at < n) FlatVectors<kUnsigned, 1>(s, r, n - kLanes);  // computes some elements again
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

void FinishOne(const IntegerDepthwiseRow& r, int64_t sum, int64_t at, int64_t c) {
  if (r.ending == IntegerEnding::kWide) {
    static_cast<int64_t*>(r.out)[at] = sum;
    return;
  }
  const int32_t acc = static_cast<int32_t>(sum) + r.bias[c];
  if (r.ending == IntegerEnding::kBytes) {
    const ColumnFactors& f = r.factors;
    VectorFactors factors;
    factors.mantissa = Broadcast(f.mantissa[c]);
    factors.shifts_left = f.left != nullptr;
    factors.left = Broadcast(factors.shifts_left ? f.left[c] : 0);
    factors.right = Broadcast(f.right[c]);
    factors.mask = ~(Broadcast(-1) << factors.right);
    const IVec v =
        ClampInts(ApplyFactors(factors, Broadcast(acc)), Broadcast(r.least), Broadcast(r.most));
    static_cast<uint8_t*>(r.out)[at] = static_cast<uint8_t>(v[0] + r.zero_point);
  } else {
    const Vec lo = Vec{} + r.lo, hi = Vec{} + r.hi;
    const float bias = r.float_bias != nullptr ? r.float_bias[c] : 0.0f;
    const float f = static_cast<float>(acc) * (r.scale[c] * r.in_scale) + bias;
    static_cast<float*>(r.out)[at] = Clamp(Vec{} + f, lo, hi)[0];
  }
}

// One pixel of anything: 16-bit images, multipliers, few channels.
void AnyPixel(const DepthwiseShape& s, const IntegerDepthwiseRow& r, int64_t x) {
  const int64_t out_c = s.in_c * s.multiplier;
  const int64_t corner = (r.out_y * s.stride_h * s.in_w + x * s.stride_w) * s.in_c;
  for (int64_t c = 0; c < out_c; ++c) {
    int64_t sum = 0;
    for (int64_t y = 0; y < s.filter_h; ++y) {
      for (int64_t i = 0; i < s.filter_w; ++i) {
        const int64_t in = corner + (y * s.dilation_h * s.in_w + i * s.dilation_w) * s.in_c;
        sum += static_cast<int64_t>(ValueAt(r, in + c / s.multiplier)) *
               r.filter[(y * s.filter_w + i) * out_c + c];
      }
    }
    FinishOne(r, sum, x * out_c + c, c);
  }
}

using PixelFunction = void (*)(const DepthwiseShape&, const IntegerDepthwiseRow&, int64_t);

template <bool kUnsigned, int kPixels>
PixelFunction PixelsOf(const DepthwiseShape& s) {
  const bool one = kPixels == 1;  // whose stride does not matter
  if (s.dilation_w != 1 || (s.stride_w > 2 && !one)) return Pixels<kUnsigned, kPixels, 0, 0>;
  if (s.filter_w == 3) {
    return s.stride_w == 1 || one ? Pixels<kUnsigned, kPixels, 3, 1>
                                  : Pixels<kUnsigned, kPixels, 3, 2>;
  }
  if (s.filter_w == 5) {
    return s.stride_w == 1 || one ? Pixels<kUnsigned, kPixels, 5, 1>
                                  : Pixels<kUnsigned, kPixels, 5, 2>;
  }
  return Pixels<kUnsigned, kPixels, 0, 0>;
}

}  // namespace

void IntegerDepthwiseRowOf(const DepthwiseShape& s, const IntegerDepthwiseRow& r);
void IntegerDepthwiseRowOf(const DepthwiseShape& s, const IntegerDepthwiseRow& r) {
  if (r.spread > 0) {
    r.element == 1 ? FlatRow<true>(s, r) : FlatRow<false>(s, r);
    return;
  }
  int64_t x = 0;
  if (s.multiplier != 1 || s.in_c < kLanes || r.element == 2) {
    for (; x < s.out_w; ++x) AnyPixel(s, r, x);
    return;
  }
  const bool is_unsigned = r.element == 1;
  const PixelFunction tile = is_unsigned ? PixelsOf<true, kTile>(s) : PixelsOf<false, kTile>(s);
  for (; x + kTile <= s.out_w; x += kTile) tile(s, r, x);
  if (x < s.out_w && s.out_w >= kTile) {
    tile(s, r, s.out_w - kTile);  // computes some pixels again
    return;
  }
  const PixelFunction one = is_unsigned ? PixelsOf<true, 1>(s) : PixelsOf<false, 1>(s);
  for (; x < s.out_w; ++x) one(s, r, x);
}

}  // namespace TW_ISA
}  // namespace topwork
