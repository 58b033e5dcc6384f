// Constants of kernels whose work-items take neighbouring columns: the transpose of weights.
#ifndef TOPWORK_KERNELS_GPU_TRANSPOSE_ROWS_H_
#define TOPWORK_KERNELS_GPU_TRANSPOSE_ROWS_H_

#include <cstdint>

namespace topwork {

// to[c * wide + r] = from[r * stride + c] for all rows r and columns c.
void TransposeRows(const float* from, int64_t stride, int64_t rows, int64_t columns, float* to,
                   int64_t wide);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_TRANSPOSE_ROWS_H_
