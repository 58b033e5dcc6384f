// Measures what DeviceCost holds with small programs and operators. It takes some milliseconds, and
// more when the device has to compile its kernels first.
#ifndef TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
#define TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_

#include <memory>
#include <string>

#include "runtime/backend/device.h"
#include "runtime/plan/device_cost.h"

namespace topwork {

// Measures a device and this processor. Errors are those of the device.
Result<DeviceCost> MeasureDeviceCost(const Device& device);

// The same, remembered in this process and in a file in `cache_folder` (see DeviceCacheFolder).
// `identity` names the device and its driver with their versions. Thread-safe.
Result<std::shared_ptr<const DeviceCost>> KnownDeviceCost(const Device& device,
                                                          const std::string& identity,
                                                          const std::string& cache_folder);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
