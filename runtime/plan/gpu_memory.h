// Device memory: how much the programs of a plan need, and what moves to the CPU where the device
// or the caller allows less.
#ifndef TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_
#define TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_

#include <cstddef>
#include <vector>

#include "runtime/plan/work_graph.h"

namespace topwork {

// Moves operators of devices to the CPU, with the reason, until the rest needs
// at most `limit_bytes` on each device (0: no limit) and at most what the device allows. Operators
// that are too large alone move first. Of the others, the longest segment that fits and lies at the
// graph's beginning or end stays.
void FitDeviceMemory(size_t limit_bytes, WorkGraph* graph);

// The device memory of all the steps' programs together, in a session.
size_t DeviceBytes(const std::vector<Step>& steps);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_GPU_MEMORY_H_
