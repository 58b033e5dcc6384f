// How reductions and row-wise operators become launches.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_REDUCE_GPU_H_
#define TOPWORK_KERNELS_OPS_REDUCE_REDUCE_GPU_H_

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch_arguments.h"

namespace topwork {

Status PlanReduce(GpuContext& context, ReduceKind kind);
template <ReduceKind kKind>
Status PlanReduceKind(GpuContext& context) {
  return PlanReduce(context, kKind);
}

// rowwise_gpu.cc
Status PlanRowwise(GpuContext& context, RowwiseKind kind);
template <RowwiseKind kKind>
Status PlanRowwiseKind(GpuContext& context) {
  return PlanRowwise(context, kKind);
}
Status PlanLocalResponseNormalization(GpuContext& context);

// axis_gpu.cc
Status PlanArgExtreme(GpuContext& context, bool largest);
template <bool kLargest>
Status PlanArgExtremeOf(GpuContext& context) {
  return PlanArgExtreme(context, kLargest);
}
Status PlanCumsum(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_REDUCE_GPU_H_
