// In place of the OpenCL backend where the library is built without it (TOPWORK_OPENCL=OFF).
#include "runtime/backend/opencl/device_info.h"
#include "runtime/backend/opencl/opencl_backend.h"

namespace topwork {
namespace opencl {

Result<const std::vector<DeviceInfo>*> ListDevices() {
  return Unsupported("this library was built without OpenCL (TOPWORK_OPENCL=OFF)");
}

Result<std::shared_ptr<const Backend>> OpenBackend(const std::string&, Storage,
                                                   const std::string&) {
  return Unsupported("this library was built without OpenCL (TOPWORK_OPENCL=OFF)");
}

}  // namespace opencl
}  // namespace topwork
