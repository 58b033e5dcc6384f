// What happens to rows of values around integer products: widening, and quantization of floats.
#include "kernels/cpu/integer.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {
namespace {

void Widen(const uint8_t* in, int64_t n, bool is_unsigned, int32_t zero_point, int16_t* out) {
  const int16_t zero = static_cast<int16_t>(zero_point);
  if (is_unsigned) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
    return;
  }
  const int8_t* bytes = reinterpret_cast<const int8_t*>(in);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(bytes[i] - zero);
}

void MinMax(const float* in, int64_t n, float* lo, float* hi) {
  Vec least = Vec{} + *lo, most = Vec{} + *hi;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = Load(in + i);
    least = v < least ? v : least;
    most = v > most ? v : most;
  }
  float low[kLanes], high[kLanes];
  Store(low, least);
  Store(high, most);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) {
      low[k] = low[k + half] < low[k] ? low[k + half] : low[k];
      high[k] = high[k + half] > high[k] ? high[k + half] : high[k];
    }
  }
  *lo = low[0];
  *hi = high[0];
  for (; i < n; ++i) {
    *lo = in[i] < *lo ? in[i] : *lo;
    *hi = in[i] > *hi ? in[i] : *hi;
  }
}

// Rounds ties away from zero; a NaN becomes lo.
TW_INLINE IVec Quantized(Vec v, float inverse, float zero_point, Vec lo, Vec hi) {
  v = v * inverse + zero_point;
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  const IVec whole = __builtin_convertvector(v, IVec);
  const Vec rest = v - ToFloat(whole);
  return whole - reinterpret_cast<IVec>(rest >= 0.5f) + reinterpret_cast<IVec>(rest <= -0.5f);
}

void Quantize(const float* in, int64_t n, float inverse_scale, int32_t zero_point, int32_t lo,
              int8_t* out) {
  const float zero = static_cast<float>(zero_point);
  const Vec low = Vec{} + static_cast<float>(lo), high = Vec{} + 127.0f;
  for (int64_t i = 0; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    StoreBytes(out + i, Quantized(LoadFirst(in + i, count), inverse_scale, zero, low, high), count);
  }
}

}  // namespace

extern const IntegerGemm kIntegerHalves;
#if defined(TW_HAVE_DOT_BYTES)
extern const IntegerGemm kIntegerBytes;
#endif

void RunIntegerDepthwise(const DepthwiseShape& shape, const IntegerDepthwiseRows& rows);

extern const IntegerKernels kIntegerKernels;
const IntegerKernels kIntegerKernels = {
#if defined(TW_HAVE_DOT_BYTES)
    &kIntegerBytes,
#else
    nullptr,
#endif
    &kIntegerHalves, kFlipInt8, kFlipUInt8, RunIntegerDepthwise, Widen, MinMax, Quantize};

}  // namespace TW_ISA
}  // namespace topwork
