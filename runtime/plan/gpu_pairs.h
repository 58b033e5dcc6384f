// Pairs of operators of one GPU segment that may be one launch: a depthwise convolution and the
// pointwise one behind it. Which are is chosen when the segment is planned (PlanPairOnGpu).
#ifndef TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_
#define TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Whether op j alone reads what op i makes, on the same device, which may compute the two as one.
bool IsGpuPair(const WorkGraph& graph, size_t i, size_t j);
// Brings the ops of such pairs side by side where others of their segment lie between them.
void JoinGpuPairs(WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_PAIRS_H_
