// The devices of an OpenCL library, on all its platforms.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_H_

#include <vector>

#include "runtime/backend/opencl/choose_device.h"
#include "runtime/backend/opencl/loader.h"

namespace topwork {
namespace opencl {

struct Device {
  const ClApi* api = nullptr;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  DeviceInfo info;
};

// Platforms in the library's order, each one's devices in its order. A platform or device that
// cannot be asked is left out when others answer; NOT_FOUND when there is no device at all.
Result<std::vector<Device>> EnumerateDevices(const ClApi& api);

// Device::info of each.
std::vector<DeviceInfo> InfoOf(const std::vector<Device>& devices);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_H_
