// What AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D share: options, checks and the walk over
// windows.
#ifndef TOPWORK_KERNELS_OPS_POOL_H_
#define TOPWORK_KERNELS_OPS_POOL_H_

#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/ops/window.h"
#include "kernels/quant.h"

namespace topwork {

struct PoolState : OpState {
  Window window;
  int64_t batch = 0, channels = 0;
  int64_t rows_per_task = 1;
  int64_t element_bytes = 4;
  float lo = 0.0f, hi = 0.0f;
  QuantizedRange range;  // the same of quantized types
};

Status ParsePool(const OptionsView& options, OpParams* params);
// Padding fused in by the planner is allowed for the maximum only: it stands for -infinity there,
// while the other pools leave padding out of their count.
// Takes float32 and, where `quantized`, int8, uint8 and int16 with the output's scale, or with none
// and no activation.
Status PreparePool(PrepareContext* context, bool explicit_padding_allowed, bool quantized);

// The part of one window that lies inside the image.
struct PoolPatch {
  const void* corner;  // its first pixel
  int64_t rows, cols;  // 0 where the window sees padding alone
  int64_t row_stride;  // elements between its rows
  void* out;           // `channels` results

  template <typename T>
  const T* row(int64_t y) const {
    return static_cast<const T*>(corner) + y * row_stride;
  }
};
// Calls body for every output pixel, rows of pixels in parallel.
void ForEachPatch(const RunContext& context, FunctionRef<void(const PoolPatch&)> body);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_POOL_H_
