// Operators that treat their input as rows along the last axis, each row by itself: SOFTMAX,
// LOG_SOFTMAX, L2_NORMALIZATION.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_H_
#define TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_H_

#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/elementwise.h"

namespace topwork {

// Calls body(first, rows, n) for ranges of rows of n values that cover the input, in parallel.
void ForEachRowRange(const RunContext& context, FunctionRef<void(int64_t, int64_t, int64_t)> body);

// One float32 input of rank min_rank or more, an output of the same shape that may take its memory.
Status PrepareRowwise(PrepareContext* context, int min_rank);

// Calls body(in, out, rows, n) for blocks of whole rows of n values, in parallel.
void ForEachRowBlock(const RunContext& context,
                     FunctionRef<void(const float*, float*, int64_t, int64_t)> body);

// y[i] = a[i] op scalar for i < n.
template <BinaryFn kFn>
void ApplyScalar(const CpuKernels& cpu, const float* a, float scalar, float* y, int64_t n) {
  BinaryTile tile;
  tile.a = a;
  tile.b = &scalar;
  tile.y = y;
  tile.rows = 1;
  tile.n = n;
  tile.b_step = 0;
  tile.lo = -__builtin_inff();
  tile.hi = __builtin_inff();
  cpu.elementwise->binary[static_cast<int>(kFn)](tile);
}

// The sum of fn(x[i]) for i < n, in an order that depends on n alone.
float SumOf(const CpuKernels& cpu, UnaryFn fn, const float* x, int64_t n);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_H_
