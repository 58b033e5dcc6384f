// What the operators on quantized tensors (int8, uint8, int16 with one scale) share besides
// kernels/ops/shared/quant.h: scale and zero point as a pair, and names for the loops' types.
#ifndef TOPWORK_KERNELS_OPS_SHARED_QUANTIZED_H_
#define TOPWORK_KERNELS_OPS_SHARED_QUANTIZED_H_

#include <cstdint>

#include "kernels/cpu/elementwise_quant.h"
#include "kernels/ops/shared/quant.h"

namespace topwork {

struct QuantOne {
  float scale = 1.0f;
  int32_t zero_point = 0;
};

// The one scale of input i (output i); fails when there is none, more than one, or a bad one, and
// for int16 with another zero point than 0.
Status ReadInputQuant(const PrepareContext& context, int i, QuantOne* out);
Status ReadOutputQuant(const PrepareContext& context, int i, QuantOne* out);

// Of a type for which IsQuantizedInteger holds.
inline QuantType QuantTypeOf(DType dtype) {
  return dtype == DType::kInt8 ? QuantType::kInt8
                               : (dtype == DType::kUInt8 ? QuantType::kUInt8 : QuantType::kInt16);
}
// int16 and int32 without a scale are plain numbers.
inline bool IsScaled(const TensorView& view) {
  return view.quantization != nullptr && !view.quantization->scales.empty();
}

// True for a scale within 0.1 % or so of 2^exponent (TFLite's test for arithmetic with shifts).
bool IsPowerOfTwo(float scale, int* exponent);

inline int32_t ClampTo(int32_t x, const QuantizedRange& range) {
  return x < range.lo ? range.lo : (x > range.hi ? range.hi : x);
}
// clamp(x + offset): the sum may leave int32.
inline int32_t PlaceInt(int32_t x, int32_t offset, int32_t lo, int32_t hi) {
  const int64_t sum = static_cast<int64_t>(x) + offset;
  return static_cast<int32_t>(sum < lo ? lo : (sum > hi ? hi : sum));
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_QUANTIZED_H_
