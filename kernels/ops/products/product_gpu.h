// Matrix products of FULLY_CONNECTED and 1x1 CONV_2D on a GPU.
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_PRODUCT_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_PRODUCT_GPU_H_

#include "kernels/gpu/launch_arguments.h"

namespace topwork {

// Output 0, m rows of n, from input 0, m rows of k values, and the weights [n][k], with their bias,
// residual and activation.
void AddProduct(GpuContext& context, int64_t m, int64_t n, int64_t k);

Status PlanFullyConnected(GpuContext& context);

// batch_matmul_gpu.cc
Status PlanBatchMatMul(GpuContext& context);
// FULLY_CONNECTED whose weights or bias only a run knows.
Status PlanFullyConnectedOfInputs(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_PRODUCT_GPU_H_
