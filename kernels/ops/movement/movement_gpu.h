// How operators that move data become launches.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_MOVEMENT_GPU_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_MOVEMENT_GPU_H_

#include "kernels/gpu/launch_arguments.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {

// Copies elements of output 0's kind; the copy counts `bytes` for each of them.
void AddStridedCopy(GpuContext& context, const StridedCopy& copy, int64_t bytes, int from, int to);
Status PlanReshape(GpuContext& context);      // output 0 is input 0
Status PlanStridedCopy(GpuContext& context);  // the state is a StridedCopy from input 0 to output 0
Status PlanJoin(GpuContext& context);         // CONCATENATION, PACK
template <int kWhole>
Status PlanSplitFrom(GpuContext& context);  // SPLIT, SPLIT_V, UNPACK; instantiated for 0 and 1
Status PlanPad(GpuContext& context);

Status PlanSpaceBatchNd(GpuContext& context, bool to_batch);  // SPACE_TO_BATCH_ND and back
template <bool kToBatch>
Status PlanSpaceBatch(GpuContext& context) {
  return PlanSpaceBatchNd(context, kToBatch);
}
Status PlanMirrorPad(GpuContext& context);

// gather_gpu.cc
Status PlanGather(GpuContext& context);
Status PlanGatherNd(GpuContext& context);
Status PlanEmbeddingLookup(GpuContext& context);
Status PlanDynamicUpdateSlice(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_MOVEMENT_GPU_H_
