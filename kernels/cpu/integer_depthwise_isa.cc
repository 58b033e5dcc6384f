// Depthwise convolution of quantized images that have their padding around them: one or two
// vectors of channels at a time ("strip"), of a few pixels at a time, values widened on loading,
// weights kept in 16 bits without their zero point. The values' zero point is corrected through the
// bias.
#include "kernels/contract/selection.h"
#include "kernels/cpu/integer_depthwise.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kMaxTaps = 32;  // that a strip keeps widened
constexpr bool kHasUnsigned = HasType(OpCode::kDepthwiseConv2d, DType::kUInt8);

// A strip's values or weights, and acc += a * w for |a|, |w| < 2^15. SSE2 and AVX2 multiply pairs of
// halves and add both products: kPairsRows, those of two rows of a window.
#if defined(TW_HAVE_PAIRS_OF_ROWS)
constexpr bool kPairsRows = true;
#else
constexpr bool kPairsRows = false;
#endif
#if defined(__aarch64__)
typedef int16x8_t Factors;
template <bool kUnsigned>
TW_INLINE Factors Values(const uint8_t* p) {
  if (kUnsigned) return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
  return vmovl_s8(vld1_s8(reinterpret_cast<const int8_t*>(p)));
}
TW_INLINE Factors Weights(const int16_t* w) { return vld1q_s16(w); }
// (For intrinsics gcc 12 keeps the lower halves of factors in registers of their own.)
TW_INLINE void MultiplyAdd(IVec (&acc)[kStripVectors], Factors a, Factors w) {
  IVec low = acc[0], high = acc[1];
  asm volatile("smlal %0.4s, %1.4h, %2.4h" : "+w"(low) : "w"(a), "w"(w));
  asm volatile("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(high) : "w"(a), "w"(w));
  acc[0] = low;
  acc[1] = high;
}
#else
#if defined(__ARM_NEON)
typedef int16x4_t Factors;
template <bool kUnsigned>
TW_INLINE Factors Values(const uint8_t* p) {
  return kUnsigned ? HalfWidenUInt8(p) : HalfWidenInt8(p);
}
TW_INLINE Factors Weights(const int16_t* w) { return vld1_s16(w); }
TW_INLINE IVec Product(IVec acc, Factors a, Factors w) {
  return reinterpret_cast<IVec>(vmlal_s16(reinterpret_cast<int32x4_t>(acc), a, w));
}
#else
typedef IVec Factors;
template <bool kUnsigned>
TW_INLINE Factors Values(const uint8_t* p) {
  return kUnsigned ? WidenUInt8(p) : WidenInt8(p);
}
#if defined(__SSE2__)  // of a weight alone the upper half is zero
TW_INLINE Factors Weights(const int16_t* w) { return WidenInt16(w) & 0xFFFF; }
TW_INLINE IVec Product(IVec acc, Factors a, Factors w) { return DotInt16(acc, a, w); }
#if defined(TW_HAVE_PAIRS_OF_ROWS)
TW_INLINE Factors Weights(const int16_t* w, const int16_t* below) {
  return Weights(w) | (WidenInt16(below) << 16);
}
template <bool kUnsigned>
TW_INLINE Factors Values(const uint8_t* p, const uint8_t* below) {
  return ZipToHalves<kUnsigned>(p, below);
}
#endif
#else
TW_INLINE Factors Weights(const int16_t* w) { return WidenInt16(w); }
TW_INLINE IVec Product(IVec acc, Factors a, Factors w) { return acc + a * w; }
#endif
#endif
TW_INLINE void MultiplyAdd(IVec (&acc)[kStripVectors], Factors a, Factors w) {
  acc[0] = Product(acc[0], a, w);
#if defined(TW_HAVE_PAIRS_OF_ROWS)  // gcc would keep products, and add them late
  __asm__("" : "+x"(acc[0]));
#endif
}
#endif

// Distances in the image, in bytes, for a strip.
struct Steps {
  int64_t row, tap, pixel;
};

// Adds kTaps taps of a row of the filter, whose input begins at `in` for the first of kTile pixels.
// Every input column is widened once for all pixels that see it. kPair: of two rows, the second of
// which is row_step away.
template <bool kUnsigned, int kTaps, int kStride, bool kPair = false>
TW_INLINE void AddTaps(IVec (&acc)[kTile][kStripVectors], const uint8_t* in, const Factors* w,
                       int64_t tap_step, [[maybe_unused]] int64_t row_step = 0) {
  constexpr int kColumns = (kTile - 1) * kStride + kTaps;
#if defined(__aarch64__)  // has registers for all columns: no product waits for the last or a load
  Factors a[kColumns];
#pragma GCC unroll 16
  for (int column = 0; column < kColumns; ++column, in += tap_step) {
    a[column] = Values<kUnsigned>(in);
  }
#pragma GCC unroll 5
  for (int tap = 0; tap < kTaps; ++tap) {
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) MultiplyAdd(acc[t], a[t * kStride + tap], w[tap]);
  }
#else
#pragma GCC unroll 16
  for (int column = 0; column < kColumns; ++column, in += tap_step) {
    Factors a;
#if defined(TW_HAVE_PAIRS_OF_ROWS)
    if constexpr (kPair) {
      a = Values<kUnsigned>(in, in + row_step);
    } else
#endif
    {
      a = Values<kUnsigned>(in);
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTile; ++t) {
      const int tap = column - t * kStride;
      if (tap >= 0 && tap < kTaps) MultiplyAdd(acc[t], a, w[tap]);
    }
  }
#endif
}

// The sums of kN pixels before the first product.
template <int kN>
TW_INLINE void SetSums(const int32_t* bias, IVec (&acc)[kN][kStripVectors]) {
#pragma GCC unroll 4
  for (int t = 0; t < kN; ++t) {
#pragma GCC unroll 2
    for (int v = 0; v < kStripVectors; ++v) acc[t][v] = LoadAgain(bias + v * kLanes);
  }
}

// Adds the products of a tap and kN pixels.
template <bool kUnsigned, int kN>
TW_INLINE void AddTap(IVec (&acc)[kN][kStripVectors], const uint8_t* in, Factors w,
                      int64_t pixel_step) {
#pragma GCC unroll 4
  for (int t = 0; t < kN; ++t) {
    MultiplyAdd(acc[t], Values<kUnsigned>(in + t * pixel_step), w);
  }
}

// The windows of kTile pixels. Rows without dilation and of the stride kStride take kTaps taps at
// once; kHeight rows, or 0: any number.
template <bool kUnsigned, int kTaps, int kStride, int kHeight>
TW_INLINE void AddWindows(const DepthwiseShape& s, const Steps& steps, const uint8_t* corner,
                          const Factors* w, IVec (&acc)[kTile][kStripVectors]) {
  if constexpr (kHeight > 0 && kPairsRows) {
#pragma GCC unroll 3
    for (int y = 0; y < kHeight / 2; ++y, corner += 2 * steps.row, w += kTaps) {
      AddTaps<kUnsigned, kTaps, kStride, true>(acc, corner, w, steps.tap, steps.row);
    }
    if constexpr (kHeight % 2 != 0) {
      AddTaps<kUnsigned, kTaps, kStride>(acc, corner, w, steps.tap);
    }
    return;
  }
  if constexpr (kHeight > 0) {
#pragma GCC unroll 3
    for (int y = 0; y < kHeight; ++y) {
      AddTaps<kUnsigned, kTaps, kStride>(acc, corner + y * steps.row, w + y * kTaps, steps.tap);
    }
    return;
  }
  for (int64_t y = 0; y < s.filter_h; ++y) {
    const uint8_t* in = corner + y * steps.row;
    int64_t i = 0;
    for (; i + kTaps <= s.filter_w; i += kTaps, in += kTaps * steps.tap, w += kTaps) {
      AddTaps<kUnsigned, kTaps, kStride>(acc, in, w, steps.tap);
    }
    for (; i < s.filter_w; ++i, in += steps.tap) {
      AddTap<kUnsigned>(acc, in, *w++, steps.pixel);
    }
  }
}

// The same of any shape and number of taps, for kN pixels; `filter` has its taps `channels` apart.
template <bool kUnsigned, int kN>
TW_INLINE void AddAnyWindows(const DepthwiseShape& s, const Steps& steps, const uint8_t* corner,
                             const int16_t* filter, IVec (&acc)[kN][kStripVectors]) {
  for (int64_t y = 0; y < s.filter_h; ++y) {
    const uint8_t* in = corner + y * steps.row;
    for (int64_t i = 0; i < s.filter_w; ++i, in += steps.tap, filter += s.in_c) {
      AddTap<kUnsigned>(acc, in, Weights(filter), steps.pixel);
    }
  }
}

// The weights of kHeight rows, in pairs of rows.
template <int kTaps, int kHeight>
TW_INLINE void LoadPairs([[maybe_unused]] const int16_t* filter, [[maybe_unused]] int64_t channels,
                         [[maybe_unused]] Factors* w) {
#if defined(TW_HAVE_PAIRS_OF_ROWS)
  for (int y = 0; y < kHeight; y += 2) {
    for (int tap = 0; tap < kTaps; ++tap) {
      const int16_t* weight = filter + (y * kTaps + tap) * channels;
      *w++ = y + 1 < kHeight ? Weights(weight, weight + kTaps * channels) : Weights(weight);
    }
  }
#endif
}

// The channels from c on of all pixels; multiplier 1. With kTaps as in AddWindows, or 0: any shape.
template <bool kUnsigned, int kTaps, int kStride, int kHeight>
void Strip(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t c) {
  const int64_t channels = s.in_c;
  const Steps steps = {s.dilation_h * s.in_w * channels, s.dilation_w * channels,
                       s.stride_w * channels};
  const int16_t* filter = r.filter + c;
  constexpr int kRows = kPairsRows ? (kHeight + 1) / 2 : kHeight;
  constexpr int kWeights = kHeight > 0 ? kRows * kTaps : kMaxTaps;
  [[maybe_unused]] Factors w[kTaps > 0 ? kWeights : 1];
  if constexpr (kHeight > 0 && kPairsRows) {
    LoadPairs<kTaps, kHeight>(filter, channels, w);
  } else if constexpr (kTaps > 0) {
    const int taps = kHeight > 0 ? kWeights : static_cast<int>(s.filter_h * s.filter_w);
#pragma GCC unroll 9
    for (int i = 0; i < taps; ++i) w[i] = Weights(filter + i * channels);
  }
  PixelEnd end(r, channels, c);
  const uint8_t* image = static_cast<const uint8_t*>(r.image) + c;
  for (int64_t y = 0; y < r.rows; ++y) {
    const uint8_t* row = image + (r.out_y + y) * s.stride_h * s.in_w * channels;
    const int64_t at = y * s.out_w * channels;
    // The last tile computes some pixels again.
    for (int64_t next = 0; next < s.out_w && s.out_w >= kTile; next += kTile) {
      const int64_t x = next + kTile <= s.out_w ? next : s.out_w - kTile;
      IVec acc[kTile][kStripVectors];
      SetSums(end.bias, acc);
      const uint8_t* corner = row + x * steps.pixel;
      if constexpr (kTaps > 0) {
        AddWindows<kUnsigned, kTaps, kStride, kHeight>(s, steps, corner, w, acc);
      } else {
        AddAnyWindows<kUnsigned>(s, steps, corner, filter, acc);
      }
      end.Finish(acc, at + x * channels);
    }
    for (int64_t x = 0; x < s.out_w && s.out_w < kTile; ++x) {
      IVec acc[1][kStripVectors];
      SetSums(end.bias, acc);
      AddAnyWindows<kUnsigned>(s, steps, row + x * steps.pixel, filter, acc);
      end.Finish(acc, at + x * channels);
    }
  }
  end.Leave();
}

// kN strips of a flat row of output, from its element `at` on.
template <bool kUnsigned, int kN>
void FlatStrips(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t out_row,
                int64_t at) {
  const int64_t channels = s.in_c * s.multiplier;
  const uint8_t* top =
      static_cast<const uint8_t*>(r.image) + (r.out_y + out_row) * s.stride_h * r.row_bytes + at;
  int64_t phase[kN];
  IVec acc[kN][kStripVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) {
    phase[i] = (at + i * kStrip) % channels;
    IVec sums[1][kStripVectors];
    SetSums(r.bias + phase[i], sums);
#pragma GCC unroll 2
    for (int v = 0; v < kStripVectors; ++v) acc[i][v] = sums[0][v];
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
      for (int k = 0; k < kN; ++k) {
        MultiplyAdd(acc[k], Values<kUnsigned>(in + k * kStrip), Weights(w + phase[k]));
      }
    }
  }
  int64_t element[kN * kStripVectors], channel[kN * kStripVectors];
  IVec sums[kN * kStripVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kN * kStripVectors; ++i) {
    element[i] = out_row * s.out_w * channels + at + i * kLanes;
    channel[i] = phase[i / kStripVectors] + i % kStripVectors * kLanes;
    sums[i] = acc[i / kStripVectors][i % kStripVectors];
  }
  Finish(r, sums, element, channel);
}

template <bool kUnsigned>
void FlatRow(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t row) {
  const int64_t n = s.out_w * s.in_c * s.multiplier;
  int64_t at = 0;
  constexpr int kMany = 4 / kStripVectors;
  for (; at + kMany * kStrip <= n; at += kMany * kStrip) {
    FlatStrips<kUnsigned, kMany>(s, r, row, at);
  }
  for (; at + kStrip <= n; at += kStrip) FlatStrips<kUnsigned, 1>(s, r, row, at);
  if (at < n) FlatStrips<kUnsigned, 1>(s, r, row, n - kStrip);  // computes some elements again
}

int32_t ValueAt(const IntegerDepthwiseRows& r, int64_t index) {
  switch (r.element) {
    case 0:
      return static_cast<const int8_t*>(r.image)[index];
    case 1:
      return static_cast<const uint8_t*>(r.image)[index];
    default:
      return static_cast<const int16_t*>(r.image)[index];
  }
}

void FinishOne(const IntegerDepthwiseRows& r, int64_t sum, int64_t at, int64_t c) {
  if (r.epilogue == IntegerEpilogue::kWide) {
    static_cast<int64_t*>(r.out)[at] = sum;
    return;
  }
  const int32_t acc = static_cast<int32_t>(sum) + r.bias[c];
  if (r.epilogue == IntegerEpilogue::kBytes) {
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
    const float y = static_cast<float*>(r.out)[at] = Clamp(Vec{} + f, lo, hi)[0];
    if (r.range == nullptr) return;
    if (y < r.range->least[0]) r.range->least[0] = y;
    if (y > r.range->most[0]) r.range->most[0] = y;
  }
}

// One pixel of anything: 16-bit images, multipliers, few channels.
void AnyPixel(const DepthwiseShape& s, const IntegerDepthwiseRows& r, int64_t y_out, int64_t x) {
  const int64_t out_c = s.in_c * s.multiplier;
  const int64_t corner = ((r.out_y + y_out) * s.stride_h * s.in_w + x * s.stride_w) * s.in_c;
  for (int64_t c = 0; c < out_c; ++c) {
    int64_t sum = 0;
    for (int64_t y = 0; y < s.filter_h; ++y) {
      for (int64_t i = 0; i < s.filter_w; ++i) {
        const int64_t in = corner + (y * s.dilation_h * s.in_w + i * s.dilation_w) * s.in_c;
        sum += static_cast<int64_t>(ValueAt(r, in + c / s.multiplier)) *
               r.filter[(y * s.filter_w + i) * out_c + c];
      }
    }
    FinishOne(r, sum, (y_out * s.out_w + x) * out_c + c, c);
  }
}

using StripFunction = void (*)(const DepthwiseShape&, const IntegerDepthwiseRows&, int64_t);

// (Where bytes are multiplied, strips of signed images are rare: RunDepthwiseBytes does most.)
template <bool kUnsigned>
StripFunction StripOf(const DepthwiseShape& s) {
  const bool any = s.dilation_w != 1 || s.stride_w > 2 || s.filter_w < 3 || s.out_w < kTile ||
                   s.filter_h * s.filter_w > kMaxTaps;
  if (kShortLoops || any) return Strip<kUnsigned, 0, 0, 0>;
  if constexpr (kUnsigned || !kHasDotBytes) {
    constexpr int kHeight = kPairsRows ? 5 : 0;  // pairs of rows want to know it
    if (s.filter_w == 5 && (kHeight == 0 || s.filter_h == kHeight)) {
      return s.stride_w == 1 ? Strip<kUnsigned, 5, 1, kHeight> : Strip<kUnsigned, 5, 2, kHeight>;
    }
    if (s.filter_w == 3 && s.filter_h == 3) {
      return s.stride_w == 1 ? Strip<kUnsigned, 3, 1, 3> : Strip<kUnsigned, 3, 2, 3>;
    }
  }
  return s.stride_w == 1 ? Strip<kUnsigned, 3, 1, 0> : Strip<kUnsigned, 3, 2, 0>;
}

}  // namespace

void RunIntegerDepthwise(const DepthwiseShape& s, const IntegerDepthwiseRows& r);
void RunIntegerDepthwise(const DepthwiseShape& s, const IntegerDepthwiseRows& r) {
  const bool is_unsigned = r.element == 1;
  if (!kShortLoops && r.spread > 0) {
    const auto flat = kHasUnsigned && is_unsigned ? FlatRow<kHasUnsigned> : FlatRow<false>;
    for (int64_t y = 0; y < r.rows; ++y) flat(s, r, y);
    return;
  }
  if (s.multiplier != 1 || s.in_c < kStrip || r.element == 2) {
    for (int64_t i = 0; i < r.rows * s.out_w; ++i) AnyPixel(s, r, i / s.out_w, i % s.out_w);
    return;
  }
  const StripFunction strip =
      kHasUnsigned && is_unsigned ? StripOf<kHasUnsigned>(s) : StripOf<false>(s);
  for (int64_t c = 0; c < s.in_c; c += kStrip) {
    strip(s, r, c + kStrip <= s.in_c ? c : s.in_c - kStrip);
  }
}

}  // namespace TW_ISA
}  // namespace topwork
