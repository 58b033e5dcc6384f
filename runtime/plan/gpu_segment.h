// A run of consecutive operators that one GPU backend takes becomes one step of the plan.
#ifndef TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_
#define TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_

#include <string>

#include "kernels/gpu/gpu_context.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

// "" and the number of launches when the operator can be turned into launches over tensors in
// `storage` with the shapes known now, else the reason.
std::string WhyNotLaunched(const WorkGraph& graph, const WorkOp& work, Storage storage,
                           int* n_launches);

// Plans the operator alone, on trial: *program receives its launches and choices but no constants.
// Its inputs are block 0. Errors: why it cannot be launched.
Status TryPlan(const WorkGraph& graph, const WorkOp& work, GpuProgram* program);

// Ops [begin, end) of the graph as one program in `storage`; inputs and outputs receive the values
// that cross its border, in the order of GpuProgram::inputs and ::outputs. Memory is planned by
// lifetime, at offsets that suit every device. `tuner` (may be null) chooses among kernels, except
// where an operator, or a pair (gpu_pairs.h), has the variant `forced_variant`.
Result<GpuProgram> PlanGpuSegment(const WorkGraph& graph, size_t begin, size_t end, Storage storage,
                                  std::vector<int>* inputs, std::vector<int>* outputs,
                                  GpuTuner* tuner, const std::string& forced_variant);

// The same without the constants' values, to see how much memory it takes.
Result<GpuProgram> PlanGpuTrial(const WorkGraph& graph, size_t begin, size_t end, Storage storage);

// The step that runs the segment on its backend.
Result<Step> MakeGpuStep(const WorkGraph& graph, size_t begin, size_t end);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_
