// PoolKernels: the loops of pools over NHWC images.
//
// All functions allocate nothing and may run on any thread. Padding is not counted. Results of
// integers are the same for every instruction set, bit for bit.
#ifndef TOPWORK_KERNELS_CPU_POOL_H_
#define TOPWORK_KERNELS_CPU_POOL_H_

#include <cstdint>

#include "kernels/cpu/elementwise_quant.h"

namespace topwork {

// One axis of the window: `out` positions, `stride` apart, the first one `pad` before the image.
struct PoolAxis {
  int64_t in = 0, filter = 1, stride = 1, pad = 0, out = 0;
};

// Rows [row_begin, row_end) of the outputs of all images, counted through the batch.
struct PoolTask {
  PoolAxis h, w;
  int64_t batch = 0, channels = 0;
  const void* x = nullptr;  // all images
  void* y = nullptr;        // all outputs
  int64_t row_begin = 0, row_end = 0;
  float lo = 0.0f, hi = 0.0f;              // limits of float32 results
  int32_t integer_lo = 0, integer_hi = 0;  // the same of integers; within their type
};
using PoolFunction = void (*)(const PoolTask& task);

struct PoolKernels {
  // float32. Mean: each row of a window is summed by itself, then the sums are added. Largest: a
  // NaN is not greater than anything; `lo` where the window sees only padding.
  PoolFunction mean, largest, root_mean_square;
  // By QuantType. Mean: ties away from zero; at most 65000 pixels under a window.
  PoolFunction integer_mean[kNumQuantTypes], integer_largest[kNumQuantTypes];
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_POOL_H_
