// Measures what DeviceCost holds: small programs and operators, some milliseconds in all (on the
// device its kernels are compiled first, or found in the program cache).
#ifndef TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
#define TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_

#include <memory>
#include <string>

#include "runtime/backend/device.h"
#include "runtime/plan/device_cost.h"

namespace topwork {

// Of a device and of this processor. Errors: those of the device.
Result<DeviceCost> MeasureDeviceCost(const Device& device);

// The same, remembered: in this process, and in a file below `cache_folder` (see
// DeviceCacheFolder). `identity` names the device and its driver with their versions. Thread-safe.
Result<std::shared_ptr<const DeviceCost>> KnownDeviceCost(const Device& device,
                                                          const std::string& identity,
                                                          const std::string& cache_folder);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
