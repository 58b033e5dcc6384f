// How depthwise products of quantized images end; for *_isa.cc files.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_DEPTHWISE_H_
#define TOPWORK_KERNELS_CPU_INTEGER_DEPTHWISE_H_

#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_single.h"

namespace topwork {
namespace TW_ISA {
namespace {

// (gcc 12 does not see that of several ends the one is used that was prepared.)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

constexpr int kTile = 4;  // pixels that a strip computes at a time

// Vectors of channels of a strip. (32 registers hold the sums of two.)
#if defined(__aarch64__)
constexpr int kStripVectors = 2;
#else
constexpr int kStripVectors = 1;
#endif
constexpr int kStrip = kStripVectors * kLanes;

// Whether strips end their pixels themselves. (Of SSE2 that code is long: builds for the least size
// do without.)
#if defined(__AVX2__) || defined(__ARM_NEON) || (defined(__SSE2__) && !defined(__OPTIMIZE_SIZE__))
constexpr bool kInlineEpilogue = true;
#else
constexpr bool kInlineEpilogue = false;
#endif

// A vector of memory, loaded each time: a copy of a register would take turns with the products.
TW_INLINE IVec LoadAgain(const int32_t* p) {
#if defined(__aarch64__)
  IVec v;
  asm volatile("ldr %q0, %1" : "=w"(v) : "m"(*reinterpret_cast<const IVecAnywhere*>(p)));
  return v;
#else
  return LoadInts(p);
#endif
}

// Vector i holds the sums of kLanes elements of the row from at[i], of the channels from c[i].
template <int kN>
TW_INLINE void FinishBytes(const IntegerDepthwiseRows& r, const IVec (&acc)[kN],
                           const int64_t (&at)[kN], const int64_t (&c)[kN]) {
  const ColumnFactors& f = r.factors;
  const ByteRange range =
      MakeByteRange(r.zero_point, r.least + r.zero_point, r.most + r.zero_point);
  IVec v[kN];
  if (f.small) {
#pragma GCC unroll 4
    for (int i = 0; i < kN; ++i) {
      v[i] = Scale(MakeScaleFactors(LoadInts(f.mantissa + c[i]), LoadInts(f.right + c[i])), acc[i]);
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

template <int kN>
TW_INLINE void FinishFloats(const IntegerDepthwiseRows& r, const IVec (&acc)[kN],
                            const int64_t (&at)[kN], const int64_t (&c)[kN]) {
  const Vec lo = Vec{} + r.lo, hi = Vec{} + r.hi;
  Vec least = Vec{}, most = Vec{};
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) {
    const Vec scale = Load(r.scale + c[i]);
    const Vec bias = r.float_bias != nullptr ? Load(r.float_bias + c[i]) : Vec{};
    const Vec f = Clamp(ToFloat(acc[i]) * (scale * r.in_scale) + bias, lo, hi);
    least = Lesser(f, least);
    most = Greater(f, most);
    Store(static_cast<float*>(r.out) + at[i], f);
  }
  if (r.range != nullptr) WidenRange(r.range, least, most);
}

// (Of the least size there is one, which strips and flat rows call.)
#if defined(__OPTIMIZE_SIZE__)
#define TW_FINISH __attribute__((noinline))
#else
#define TW_FINISH TW_INLINE
#endif
template <int kN>
TW_FINISH void Finish(const IntegerDepthwiseRows& r, const IVec (&acc)[kN], const int64_t (&at)[kN],
                      const int64_t (&c)[kN]) {
  if (r.epilogue == IntegerEpilogue::kBytes) {
    FinishBytes(r, acc, at, c);
  } else {
    FinishFloats(r, acc, at, c);
  }
}

// Sums of kN pixels from element `at` on, of the channels from c.
template <int kN>
__attribute__((noinline)) void FinishPixels(const IntegerDepthwiseRows& r, const IVec (&acc)[kN],
                                            int64_t at, int64_t channels, int64_t c) {
  int64_t element[kN], first[kN];
#pragma GCC unroll 4
  for (int t = 0; t < kN; ++t) {
    element[t] = at + t * channels;
    first[t] = c;
  }
  Finish(r, acc, element, first);
}

#if !defined(__OPTIMIZE_SIZE__)
// The same of a strip: what its channels need stays in registers.
struct FloatEnd {
  Vec scale[kStripVectors], bias[kStripVectors], lo, hi, least, most;

  __attribute__((always_inline)) void Begin(const IntegerDepthwiseRows& r, int64_t c) {
    lo = Vec{} + r.lo;
    hi = Vec{} + r.hi;
    least = most = Vec{};
#pragma GCC unroll 2
    for (int v = 0; v < kStripVectors; ++v) {
      scale[v] = Load(r.scale + c + v * kLanes) * r.in_scale;
      bias[v] = r.float_bias != nullptr ? Load(r.float_bias + c + v * kLanes) : Vec{};
    }
  }

  template <int kN>
  __attribute__((always_inline)) void Finish(const IVec (&acc)[kN][kStripVectors], float* out,
                                             int64_t channels) {
#pragma GCC unroll 4
    for (int t = 0; t < kN; ++t, out += channels) {
#pragma GCC unroll 2
      for (int v = 0; v < kStripVectors; ++v) {
        const Vec f = Clamp(ToFloat(acc[t][v]) * scale[v] + bias[v], lo, hi);
        least = Lesser(f, least);
        most = Greater(f, most);
        Store(out + v * kLanes, f);
      }
    }
  }
};
#endif

// The end of a strip: the channels from c on.
struct PixelEnd {
  const IntegerDepthwiseRows& r;
  int64_t channels, c;
  const int32_t* bias;  // of the sums
  bool small, whole = false;
  ScaleFactors factors[kStripVectors];
#if defined(TW_HAVE_SINGLE_FACTORS)
  bool single = false;
  VectorSingles singles[kStripVectors];
  MirroredSingles mirrored[kStripVectors];
#endif
  ByteRange range;
#if !defined(__OPTIMIZE_SIZE__)
  FloatEnd floats;
#endif

  PixelEnd(const IntegerDepthwiseRows& rows, int64_t n_channels, int64_t first)
      : r(rows),
        channels(n_channels),
        c(first),
        bias(rows.bias + first),
        small(kInlineEpilogue && r.epilogue == IntegerEpilogue::kBytes && r.factors.small),
        factors{},
        range(MakeByteRange(r.zero_point, r.least + r.zero_point, r.most + r.zero_point)) {
#if !defined(__OPTIMIZE_SIZE__)
    if (r.epilogue == IntegerEpilogue::kFloat) floats.Begin(r, c);
#endif
    if (!small) return;
    whole = IsWhole(r.least + r.zero_point, r.most + r.zero_point);
#if defined(TW_HAVE_SINGLE_FACTORS)
    single = HaveSingles(r.factors.single, c, kStrip);
    if (single) {
      bias = r.factors.single.bias + c;
      for (int v = 0; v < kStripVectors; ++v) {
        if (r.factors.single.shift != nullptr) {
          mirrored[v] = MirroredSingles(r.factors.single, c + v * kLanes);
        } else {
          singles[v] = VectorSingles(r.factors.single, c + v * kLanes);
        }
      }
      return;
    }
#endif
#pragma GCC unroll 2
    for (int v = 0; v < kStripVectors; ++v) {
      const int64_t at = c + v * kLanes;
      factors[v] =
          MakeScaleFactors(LoadInts(r.factors.mantissa + at), LoadInts(r.factors.right + at));
    }
  }

  // Of kN pixels, the first of which begins at element `at` of the output. (Copies: arrays of which
  // a function takes the address do not stay in registers.)
  template <int kN>
  __attribute__((always_inline)) void Finish(const IVec (&acc)[kN][kStripVectors], int64_t at) {
#if !defined(__OPTIMIZE_SIZE__)
    if (r.epilogue == IntegerEpilogue::kFloat) {
      return floats.Finish(acc, static_cast<float*>(r.out) + at + c, channels);
    }
#endif
    if (!kInlineEpilogue || !small) {
      for (int v = 0; v < kStripVectors; ++v) {
        IVec sums[kN];
#pragma GCC unroll 4
        for (int t = 0; t < kN; ++t) sums[t] = acc[t][v];
        FinishPixels(r, sums, at + c + v * kLanes, channels, c + v * kLanes);
      }
      return;
    }
#if defined(TW_HAVE_SINGLE_FACTORS)
    const auto pack_whole = [&](const auto& x) __attribute__((always_inline)) {
      return PackSingles<true>(range, x);
    };
    const auto pack_some = [&](const auto& x) __attribute__((always_inline)) {
      return PackSingles<false>(range, x);
    };
    if (single && r.factors.single.shift != nullptr) {
      return FinishScaled(mirrored, acc, at, pack_some);
    }
    if (single && whole) return FinishScaled(singles, acc, at, pack_whole);
    if (single) return FinishScaled(singles, acc, at, pack_some);
#endif
    if constexpr (kPacksWhole) {
      const auto pack_all = [&](const auto& x) __attribute__((always_inline)) {
        return PackInts<true>(range, x);
      };
      if (whole) return FinishScaled(factors, acc, at, pack_all);
    }
    const auto pack = [&](const auto& x) __attribute__((always_inline)) {
      return PackInts<false>(range, x);
    };
    FinishScaled(factors, acc, at, pack);
  }

  // After the last pixels.
  __attribute__((always_inline)) void Leave() const {
#if !defined(__OPTIMIZE_SIZE__)
    if (r.epilogue == IntegerEpilogue::kFloat && r.range != nullptr) {
      WidenRange(r.range, floats.least, floats.most);
    }
#endif
  }

  template <int kN, class Factors, class Pack>
  __attribute__((always_inline)) void FinishScaled(const Factors (&f)[kStripVectors],
                                                   const IVec (&acc)[kN][kStripVectors], int64_t at,
                                                   const Pack& pack) const {
    constexpr int kPixels = kN * kStripVectors > 4 ? 4 / kStripVectors : kN;  // packed at once
    uint8_t* out = static_cast<uint8_t*>(r.out) + at + c;
#pragma GCC unroll 4
    for (int t = 0; t < kN; t += kPixels) {
      IVec x[kPixels * kStripVectors];
#pragma GCC unroll 4
      for (int i = 0; i < kPixels * kStripVectors; ++i) {
        const int v = i % kStripVectors;
        x[i] = Scale(f[v], acc[t + i / kStripVectors][v]);
      }
      const ByteVec bytes = pack(x);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i, out += channels) {
        StoreParts<kStripVectors>(out, bytes, i * kStripVectors, kStrip);
      }
    }
  }
};

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_DEPTHWISE_H_
