// Decides which part of a graph is worth moving to a device.
#ifndef TOPWORK_RUNTIME_PLAN_PARTITION_H_
#define TOPWORK_RUNTIME_PLAN_PARTITION_H_

#include "runtime/plan/device_cost.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

// Estimated nanoseconds of one run of the ops before first_deferred.
struct PlanEstimate {
  double nanos = 0.0;      // as they are placed
  double cpu_nanos = 0.0;  // all of them on the CPU
};

// Groups the operators by device (see GroupByDevice). Where a cost is given, it moves back to the
// CPU, with the reason, what is not worth its transfers: first parts of a segment that share no
// value, then what is left of the segment together. Then it tries the moved operators on the device
// again, one by one. nanos never exceeds cpu_nanos. cost null: nothing moves back.
void Partition(const DeviceCost* cost, WorkGraph* graph);

PlanEstimate EstimatePlan(const WorkGraph& graph, const DeviceCost& cost);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PARTITION_H_
