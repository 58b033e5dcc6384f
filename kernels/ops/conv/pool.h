// What AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D share: options, checks and the work of
// all threads.
#ifndef TOPWORK_KERNELS_OPS_CONV_POOL_H_
#define TOPWORK_KERNELS_OPS_CONV_POOL_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/pool.h"
#include "kernels/ops/shared/quant.h"
#include "kernels/ops/shared/window.h"

namespace topwork {

struct PoolState : OpState {
  Window window;
  int64_t batch = 0, channels = 0;
  int64_t rows_per_task = 1;
  int64_t n_tasks() const { return (batch * window.h.out + rows_per_task - 1) / rows_per_task; }
  float lo = 0.0f, hi = 0.0f;
  QuantizedRange range;  // the same of quantized types
};

Status ParsePool(const OptionsView& options, OpParams* params);
// Padding that the planner fused in is allowed for the maximum only: there it stands for -infinity,
// while the other pools leave padding out of their count. Takes float32 and, where `quantized`,
// int8, uint8 and int16, either with the output's scale or without a scale and activation.
Status PreparePool(PrepareContext* context, bool explicit_padding_allowed, bool quantized);

// Runs one of context.cpu->pool's functions on all rows of the output, in parallel.
void RunPool(const RunContext& context, PoolFunction pool);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_POOL_H_
