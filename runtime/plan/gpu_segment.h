// Segments: consecutive operators on one device become one step of the plan.
#ifndef TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_
#define TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_

#include <string>

#include "kernels/gpu/gpu_context.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

// Returns "" and the number of launches when the operator can become launches over tensors in
// `storage` with the shapes known now; otherwise the reason why it cannot. same_integers: as in
// PlanOptions.
std::string WhyNotLaunched(const WorkGraph& graph, const WorkOp& work, Storage storage,
                           bool same_integers, int* n_launches);

// Plans the operator alone, on trial: *program receives its launches and choices but no constants.
// Its inputs are block 0. An error says why it cannot be launched.
Status TryPlan(const WorkGraph& graph, const WorkOp& work, GpuProgram* program);

// Ops [begin, end) of the graph as one program of the device; inputs and outputs receive the values
// that cross its border, in the order of GpuProgram::inputs and ::outputs. Memory is planned by
// lifetime, at offsets that suit every device. `tuner` (may be null) chooses among kernels, except
// where an operator, or a pair (gpu_pairs.h), has the variant `forced_variant`.
Result<GpuProgram> PlanGpuSegment(const WorkGraph& graph, size_t begin, size_t end,
                                  const Device& device, std::vector<int>* inputs,
                                  std::vector<int>* outputs, GpuTuner* tuner,
                                  const std::string& forced_variant);

// The same without the values of constants, to see how much memory the program takes.
Result<GpuProgram> PlanGpuTrial(const WorkGraph& graph, size_t begin, size_t end,
                                const Device& device);

// Operators of the segment that share launches which its device cannot compile.
struct Uncompiled {
  std::vector<size_t> ops;
  Status why;
};
std::vector<Uncompiled> FindUncompiled(const WorkGraph& graph, size_t begin, size_t end);

// Makes the step that runs the segment on its device.
Result<Step> MakeGpuStep(const WorkGraph& graph, size_t begin, size_t end);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_SEGMENT_H_
