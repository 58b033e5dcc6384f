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

// [outer, steps, inner] of block `from` to output 0, [outer, inner], clamped to [lo, hi].
struct GroupedReduce {
  int from;
  ReduceKind kind;
  int64_t outer, steps, inner;
  float lo, hi;
};
// Adds it as work-groups of which each walks a part of the steps; false, and nothing is added, where
// there are so many results or so few steps that a work-item for each result does better.
bool AddReduceByGroups(GpuContext& context, const GroupedReduce& reduce);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_REDUCE_GPU_H_
