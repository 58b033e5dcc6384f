// Quantization of floats at run time, for operators with quantized weights ("dynamic range").
#ifndef TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_
#define TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_

#include <cstdint>

#include "kernels/contract/kernel.h"

namespace topwork {

// real = scale * (q − zero_point), q in [−127, 127] (symmetric) or [−128, 127].
struct DynamicScale {
  float scale = 1.0f;
  int32_t zero_point = 0;
};

// The scale of values in [lo, hi], where lo ≤ 0 ≤ hi; TFLite's rule.
DynamicScale MakeDynamicScale(float lo, float hi, bool symmetric);

// Chunks of n values that threads take; QuantizeImage wants `partials` of twice as many floats.
int64_t DynamicChunks(int64_t n);
// Quantizes n values with one scale, on all threads.
DynamicScale QuantizeImage(const RunContext& context, const float* in, int64_t n, bool symmetric,
                           float* partials, int8_t* out);
// Quantizes a row on this thread.
DynamicScale QuantizeRow(const RunContext& context, const float* in, int64_t n, bool symmetric,
                         int8_t* out);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_DYNAMIC_RANGE_H_
