// The order in which a plan's operators run.
#ifndef TOPWORK_RUNTIME_PLAN_ORDER_H_
#define TOPWORK_RUNTIME_PLAN_ORDER_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Whether the op reads or writes a variable or a resource.
bool TouchesState(const WorkGraph& graph, const Op& op);
// Reads or writes something else than its inputs and outputs, or may: state, random numbers, what a
// custom operator or a subgraph does.
bool HasEffects(const WorkGraph& graph, const Op& op);

// Reorders the ops before first_deferred so that those of a device follow each other in as few
// runs as possible; each run becomes one segment. A value's maker stays before its readers, and
// operators with effects beyond their outputs keep their order among themselves. Ops that run one
// at a time keep the file's order where nothing forbids it; without a GPU nothing changes.
void GroupByDevice(WorkGraph* graph);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_ORDER_H_
