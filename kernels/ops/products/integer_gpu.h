// Operators on int8 and uint8 whose tensors stay bytes on a GPU (integer_product.cl,
// integer_depthwise.cl, integer_elementwise.cl).
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_

#include "kernels/cpu/elementwise.h"
#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/shared/gpu_plans.h"

namespace topwork {

// Whether data and result are bytes, and weights and bias constant integers: for the three below.
bool IsIntegerProduct(const GpuContext& context);

void AddIntegerConv(GpuContext& context);
void AddIntegerDepthwise(GpuContext& context);
void AddIntegerFullyConnected(GpuContext& context);

// False, and nothing is added, where the tensors are no bytes or the kind has no kernel for them.
// (integer_elementwise_gpu.cc)
bool AddIntegerLookup(GpuContext& context);  // of an operator with a TableState
bool AddIntegerBinary(GpuContext& context, BinaryFn fn);
bool AddIntegerPool(GpuContext& context, PoolKind kind);
// [outer, steps, inner] to [outer, inner].
bool AddIntegerReduce(GpuContext& context, ReduceKind kind, int64_t outer, int64_t steps,
                      int64_t inner);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_
