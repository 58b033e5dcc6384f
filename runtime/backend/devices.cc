// All devices are OpenCL's today: the functions hand over to runtime/backend/opencl.
#include "runtime/backend/devices.h"

#include <cstdlib>

#include "kernels/contract/selection.h"
#include "ports/port.h"
#include "runtime/backend/opencl/choose_device.h"
#include "runtime/backend/opencl/opencl_device.h"

namespace topwork {
namespace {

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

constexpr char kAutoDevice[] = "TOPWORK_AUTO_DEVICE";

}  // namespace

std::string DriverIdentity(const DeviceInfo& info) {
  return info.platform + "\n" + info.platform_version + "\n" + info.name + "\n" + info.vendor +
         "\n" + info.driver + "\n" + info.version;
}

Result<const std::vector<DeviceInfo>*> ListDevices() { return opencl::ListDevices(); }

Result<FoundDevice> FindDevice(const DeviceName& name) {
  if (!kHasOpenCl) return ListDevices().status();  // why there are none
  TW_ASSIGN_OR_RETURN(const std::vector<DeviceInfo>* devices, ListDevices());
  TW_ASSIGN_OR_RETURN(const size_t index, opencl::ChooseDevice(*devices, name));
  return FoundDevice{DeviceName::Opencl(static_cast<int>(index)), &(*devices)[index]};
}

AutoDevice AutoDeviceVariable() {
  const std::string text = Variable(kAutoDevice);
  if (text.empty()) return AutoDevice::kBest;
  return text == "off" ? AutoDevice::kOff : AutoDevice::kNamed;
}

// Drivers are loaded to be asked, even where PoCL is the only one and turns out to be a CPU, though its
// LLVM takes most of such a start. Nothing else tells for certain that no GPU is there: PoCL serves
// CUDA's and remote GPUs from the same ICD file; which folder a loader reads is compiled into it (conda,
// Nix), and variables change it; a vendor's own libOpenCL.so.1 reads none; and what an earlier process
// found ends with a kernel module, a container's devices or a cable. `off` does without.
Result<FoundDevice> FindAutoDevice() {
  switch (AutoDeviceVariable()) {
    case AutoDevice::kBest:
      return FindDevice(DeviceName::Opencl());
    case AutoDevice::kOff:
      return NotFound("{} is off: no device is tried", kAutoDevice);
    case AutoDevice::kNamed:
      break;
  }
  Result<DeviceName> name = ParseDeviceName(Variable(kAutoDevice));
  if (!name.ok()) return name.status().WithPrefix(std::string(kAutoDevice) + ": ");
  return FindDevice(name.value());
}

Result<std::shared_ptr<const Device>> OpenDevice(const DeviceName& name,
                                                 const OpenOptions& options) {
  return opencl::OpenDevice(name, options);
}

std::string DeviceCacheFolder(const std::string& cache_folder, const char* part) {
  if (cache_folder == "off" || Variable("TOPWORK_OPENCL_CACHE") == "off") return "";
  const std::string base = cache_folder.empty() ? port::CacheFolder() : cache_folder;
  return base.empty() ? "" : base + "/" + part;
}

}  // namespace topwork
