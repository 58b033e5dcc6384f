// How convolutions, pools and resizing become launches.
#ifndef TOPWORK_KERNELS_OPS_CONV_CONV_GPU_H_
#define TOPWORK_KERNELS_OPS_CONV_CONV_GPU_H_

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch_arguments.h"

namespace topwork {

Status PlanConv2D(GpuContext& context);           // conv_2d_gpu.cc
Status PlanDepthwiseConv2D(GpuContext& context);  // depthwise_gpu.cc
Status PlanTransposeConv(GpuContext& context);    // transpose_conv_gpu.cc

// pool_gpu.cc
Status PlanPool(GpuContext& context, PoolKind kind);
template <PoolKind kKind>
Status PlanPoolKind(GpuContext& context) {
  return PlanPool(context, kKind);
}

// resize_gpu.cc
Status PlanResizeBilinear(GpuContext& context);
Status PlanResizeNearest(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONV_CONV_GPU_H_
