// Operators on int8 and uint8 whose tensors stay bytes on a GPU (integer_product.cl,
// integer_depthwise.cl).
#ifndef TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_
#define TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_

#include "kernels/gpu/launch_arguments.h"

namespace topwork {

// Whether data and result are bytes, and weights and bias constant integers: for the three below.
bool IsIntegerProduct(const GpuContext& context);

void AddIntegerConv(GpuContext& context);
void AddIntegerDepthwise(GpuContext& context);
void AddIntegerFullyConnected(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_PRODUCTS_INTEGER_GPU_H_
