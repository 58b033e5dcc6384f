// Pairs of operators of one GPU segment that may be one launch: a depthwise convolution and the
// pointwise convolution after it. PlanPairOnGpu decides when the segment is planned.
#ifndef TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_
#define TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Whether op j is the only reader of what op i makes, on the same device, and the device may
// compute the two as one.
bool IsGpuPair(const WorkGraph& graph, size_t i, size_t j);
// Moves the ops of such pairs side by side where other ops of their segment lie between them.
void JoinGpuPairs(WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_
