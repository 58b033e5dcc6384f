// MakeSteps: prepares the operators of a graph for good.
#ifndef TOPWORK_RUNTIME_PLAN_MAKE_STEPS_H_
#define TOPWORK_RUNTIME_PLAN_MAKE_STEPS_H_

#include <set>
#include <vector>

#include "runtime/plan/alias.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

// Adds a step to `plan` and its offer to `offers` for every operator before first_deferred, every chain that
// runs in bands, and every run of operators that a device computes. Shapes of the graph's views become
// those that the operators gave; what a device cannot compile becomes the CPU's. needed_constants gets
// those that runs read as they are. Where the graph has a pool and a slab for packed constants, the
// operators are prepared on its threads.
Status MakeSteps(const PlanOptions& options, WorkGraph* graph, std::vector<SharingOffer>* offers,
                 std::set<int>* needed_constants, Plan* plan);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_MAKE_STEPS_H_
