// Measures what DeviceCost holds with small programs and operators. It takes some milliseconds, and
// more when the device has to compile its kernels first.
#ifndef TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
#define TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_

#include <memory>
#include <string>

#include "runtime/backend/backend.h"
#include "runtime/plan/device_cost.h"

namespace topwork {

// Measures a backend that takes programs, and this processor. Errors are those of the backend.
Result<DeviceCost> MeasureDeviceCost(const Backend& backend);

// The same, remembered in this process and in a file in `cache_folder` (see NumbersFolder).
// `identity` names the device and its driver with their versions. Thread-safe.
Result<std::shared_ptr<const DeviceCost>> KnownDeviceCost(const Backend& backend,
                                                          const std::string& identity,
                                                          const std::string& cache_folder);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_MEASURE_COST_H_
