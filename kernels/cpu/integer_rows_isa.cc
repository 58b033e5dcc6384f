// What happens to rows of values around integer products: widening, and quantization of floats.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/narrow_weights.h"
#include "kernels/cpu/simd_single.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kWidened = 16;  // at once
typedef int16_t Wide __attribute__((vector_size(2 * kWidened)));
typedef int16_t WideAnywhere __attribute__((vector_size(2 * kWidened), aligned(1), may_alias));

// out[i] = in[i] - zero. The vectors are written out because builds for size vectorize no loops.
template <typename Bytes, typename T>
void WidenBytes(const T* in, int64_t n, int16_t zero, int16_t* out) {
  const Wide zeros = Wide{} + zero;
  int64_t i = 0;
  for (; i + kWidened <= n; i += kWidened) {
    Bytes bytes;
    __builtin_memcpy(&bytes, in + i, sizeof(bytes));
    *reinterpret_cast<WideAnywhere*>(out + i) = __builtin_convertvector(bytes, Wide) - zeros;
  }
  for (; i < n; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
}

void Widen(const uint8_t* in, int64_t n, bool is_unsigned, int32_t zero_point, int16_t* out) {
  typedef int8_t Signed __attribute__((vector_size(kWidened)));
  typedef uint8_t Unsigned __attribute__((vector_size(kWidened)));
  const int16_t zero = static_cast<int16_t>(zero_point);
  if (is_unsigned) return WidenBytes<Unsigned>(in, n, zero, out);
  WidenBytes<Signed>(reinterpret_cast<const int8_t*>(in), n, zero, out);
}

#if defined(TW_HAVE_DOT_BYTES) && !defined(__OPTIMIZE_SIZE__)
void Flip(const uint8_t* in, int64_t n, uint8_t flip, uint8_t* out) {
  const IVec flips = Broadcast(static_cast<int32_t>(flip * 0x01010101u));
  int64_t i = 0;
  for (; i + kVectorBytes <= n; i += kVectorBytes) StoreInts(out + i, LoadInts(in + i) ^ flips);
  if (i == n) return;
  if (n >= kVectorBytes) {  // some bytes again
    StoreInts(out + n - kVectorBytes, LoadInts(in + n - kVectorBytes) ^ flips);
    return;
  }
  for (; i < n; ++i) out[i] = in[i] ^ flip;
}
#endif

void MinMax(const float* in, int64_t n, float* lo, float* hi) {
  constexpr int kChains = 4;  // as a comparison takes several cycles
  int64_t i = 0;
  if (n >= kLanes) {
    Vec least[kChains], most[kChains];
    for (int k = 0; k < kChains; ++k) {
      least[k] = Vec{} + *lo;
      most[k] = Vec{} + *hi;
    }
    for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
#pragma GCC unroll 4
      for (int k = 0; k < kChains; ++k) {
        const Vec v = Load(in + i + k * kLanes);
        least[k] = Lesser(v, least[k]);
        most[k] = Greater(v, most[k]);
      }
    }
    for (; i < n; i += kLanes) {
      const Vec v = Load(in + (i + kLanes <= n ? i : n - kLanes));
      least[0] = Lesser(v, least[0]);
      most[0] = Greater(v, most[0]);
    }
    float low[kLanes], high[kLanes];
    Store(low, Lesser(Lesser(least[0], least[1]), Lesser(least[2], least[3])));
    Store(high, Greater(Greater(most[0], most[1]), Greater(most[2], most[3])));
#pragma GCC unroll 4
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) {
        low[k] = low[k + half] < low[k] ? low[k + half] : low[k];
        high[k] = high[k + half] > high[k] ? high[k + half] : high[k];
      }
    }
    *lo = low[0];
    *hi = high[0];
  }
  for (; i < n; ++i) {
    *lo = in[i] < *lo ? in[i] : *lo;
    *hi = in[i] > *hi ? in[i] : *hi;
  }
}

// Rounds ties away from zero; a NaN becomes lo. (The largest number below a half rounds as a half
// would, but for what lies just below a tie.)
TW_INLINE IVec Quantized(Vec v, float inverse, float zero_point, Vec lo, Vec hi) {
  v = Lesser(Greater(v * inverse + zero_point, lo), hi);
#if defined(__aarch64__)
  return (IVec)vcvtaq_s32_f32((float32x4_t)v);
#elif defined(__AVX512F__)
  // (gcc makes three instructions of the two that give a half the sign of v.)
  const __m512i half = _mm512_castps_si512(_mm512_set1_ps(0.49999997f));
  const __m512i signed_half = _mm512_ternarylogic_epi32((__m512i)v, _mm512_set1_epi32(INT32_MIN),
                                                        half, 0xEA);  // (v & sign) | half
  return (IVec)_mm512_cvttps_epi32(_mm512_add_ps((__m512)v, _mm512_castsi512_ps(signed_half)));
#else
  const IVec half = reinterpret_cast<IVec>(Vec{} + 0.49999997f);
  const IVec signed_half = (reinterpret_cast<IVec>(v) & INT32_MIN) | half;
  return __builtin_convertvector(v + reinterpret_cast<Vec>(signed_half), IVec);
#endif
}

void Quantize(const float* in, int64_t n, float inverse_scale, int32_t zero_point, int32_t lo,
              int8_t* out) {
  constexpr int kMany = 4 * kLanes;
  const float zero = static_cast<float>(zero_point);
  const Vec low = Vec{} + static_cast<float>(lo), high = Vec{} + 127.0f;
  const ByteRange range = MakeByteRange(0, lo, 127);
  uint8_t* to = reinterpret_cast<uint8_t*>(out);
  int64_t i = 0;
  if (n >= kMany) {
    for (; i < n; i += kMany) {
      if (i + kMany > n) i = n - kMany;  // some values again
      IVec v[4];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        v[k] = Quantized(Load(in + i + k * kLanes), inverse_scale, zero, low, high);
      }
      StoreParts<4>(to + i, PackInts<true>(range, v), 0, kMany);  // they are in the range
    }
    return;
  }
  for (; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    StoreBytes(to + i, Quantized(LoadFirst(in + i, count), inverse_scale, zero, low, high), count);
  }
}

}  // namespace

extern const IntegerGemm kIntegerInt16;
#if defined(TW_HAVE_NARROW_WEIGHTS)
extern const IntegerGemm kIntegerNarrow;
#endif
#if defined(TW_HAVE_DOT_BYTES)
extern const IntegerGemm kIntegerBytes;
#endif

void RunIntegerDepthwise(const DepthwiseShape& shape, const IntegerDepthwiseRows& rows);
#if defined(TW_HAVE_DOT_BYTES)
void RunDepthwiseBytes(const DepthwiseShape& shape, const IntegerDepthwiseRows& rows);
#endif

#if defined(TW_HAVE_SINGLE_FACTORS)
void FindSingleFactors(const SingleSearch& search, int64_t first, int64_t n);
#endif

extern const IntegerKernels kIntegerKernels;
const IntegerKernels kIntegerKernels = {
#if defined(TW_HAVE_DOT_BYTES)
    &kIntegerBytes,
#else
    nullptr,
#endif
    &kIntegerInt16,
#if defined(TW_HAVE_NARROW_WEIGHTS)
    &kIntegerNarrow,
#else
    nullptr,
#endif
    kFlipInt8,
    kFlipUInt8,
    RunIntegerDepthwise,
#if defined(TW_HAVE_DOT_BYTES)
    RunDepthwiseBytes,
#else
    nullptr,
#endif
#if defined(TW_HAVE_SINGLE_FACTORS)
    FindSingleFactors,
#else
    nullptr,
#endif
    Widen,
#if defined(TW_HAVE_DOT_BYTES) && !defined(__OPTIMIZE_SIZE__)
    Flip,
#else
    nullptr,
#endif
    MinMax,
    Quantize};

}  // namespace TW_ISA
}  // namespace topwork
