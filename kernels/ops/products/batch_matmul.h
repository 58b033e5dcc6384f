// What the float and the quantized BATCH_MATMUL share.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_BATCH_MATMUL_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_BATCH_MATMUL_H_

#include <cstdint>

#include "kernels/contract/kernel.h"

namespace topwork {

struct BatchMatMulShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;
  // Leading dimensions of the output with the step of each operand in matrices (0: broadcast).
  int rank = 0;
  int64_t dims[kMaxRank] = {}, a_steps[kMaxRank] = {}, b_steps[kMaxRank] = {};
  int64_t batches = 1, a_matrices = 1, b_matrices = 1;
};

// The index of each operand's matrix for output batch `batch`.
inline void MatricesOf(const BatchMatMulShape& s, int64_t batch, int64_t* a, int64_t* b) {
  *a = *b = 0;
  for (int i = s.rank - 1; i >= 0; --i) {
    const int64_t at = batch % s.dims[i];
    batch /= s.dims[i];
    *a += at * s.a_steps[i];
    *b += at * s.b_steps[i];
  }
}

// int8 by int8 (to int8, or to int32: plain sums of the values as they are), int16 by int16 or
// int8, float32 by int8 (rows of the left side quantized at run time; one scale or one a column);
// types and shapes were checked and the output is set. (batch_matmul_quantized.cc)
Status PrepareBatchMatMulQuantized(PrepareContext* context, const BatchMatMulShape& shape);
Status RunBatchMatMulQuantized(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_BATCH_MATMUL_H_
