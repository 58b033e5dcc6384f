// The order in which a plan's operators run.
#ifndef TOPWORK_RUNTIME_PLAN_ORDER_H_
#define TOPWORK_RUNTIME_PLAN_ORDER_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Whether the op reads or writes a variable or a resource.
bool TouchesState(const WorkGraph& graph, const Op& op);
// Whether the op has effects, or may have: it reads or writes state, draws random numbers, or is a
// custom operator or a call of a subgraph.
bool HasEffects(const WorkGraph& graph, const Op& op);

// Reorders the ops before first_deferred so that those of a device form as few segments as
// possible. A value's maker stays before its readers, and operators with effects keep their order
// among themselves. Other ops keep the file's order where they can; without a GPU nothing changes.
void GroupByDevice(WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_ORDER_H_
