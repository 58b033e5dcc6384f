// Device memory: how much the programs of a plan hold, and what goes to the CPU where a device or
// its user allows less.
#ifndef TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_
#define TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_

#include <cstddef>
#include <vector>

#include "runtime/plan/work_graph.h"

namespace topwork {

// Gives operators of devices to the CPU, with the reason, until what is left
// needs at most `limit_bytes` on each device (0: no limit) and what the device itself allows.
// Operators that are too large alone go first; of the others the longest run from the graph's
// beginning or from its end stays that fits.
void FitDeviceMemory(size_t limit_bytes, WorkGraph* graph);

// What the steps' programs hold on their devices together, in a session.
size_t DeviceBytes(const std::vector<Step>& steps);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_
