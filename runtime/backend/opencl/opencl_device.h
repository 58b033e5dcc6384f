// An OpenCL device as a topwork::Device: runs the programs that the planner makes of a graph's
// parts.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_DEVICE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_DEVICE_H_

#include <memory>

#include "runtime/backend/devices.h"

namespace topwork {
namespace opencl {

class Context;

// The device of a context; of the options all but the folder count.
std::shared_ptr<const topwork::Device> MakeDevice(std::shared_ptr<Context> context,
                                                  const OpenOptions& options);
// With the other options' defaults.
std::shared_ptr<const topwork::Device> MakeDevice(std::shared_ptr<Context> context, Storage storage,
                                                  int tune_ms = 0);
// See topwork::OpenDevice.
Result<std::shared_ptr<const topwork::Device>> OpenDevice(const DeviceName& name,
                                                          const OpenOptions& options);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_OPENCL_DEVICE_H_
