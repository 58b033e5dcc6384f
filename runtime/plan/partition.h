// Which part of a graph is worth a device's while.
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

// Groups the operators by device (see GroupByDevice) and, where a cost is given, brings back to
// the CPU what is not worth its transfers, with the reason: parts of a segment that share no value
// are judged on their own, then what is left of the segment together. Keeps nanos ≤ cpu_nanos.
// Then operators brought back are tried there again one by one. cost null: nothing is brought back.
void Partition(const DeviceCost* cost, WorkGraph* graph);

PlanEstimate EstimatePlan(const WorkGraph& graph, const DeviceCost& cost);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_PARTITION_H_
