// The devices of this machine beside the CPU: list them, choose one by its name, open it.
//
// Code outside runtime/backend reaches devices only through this header and workspace.h; which
// driver is behind them is known to runtime/backend alone. All functions are thread-safe.
#ifndef TOPWORK_RUNTIME_BACKEND_DEVICES_H_
#define TOPWORK_RUNTIME_BACKEND_DEVICES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/gpu_format.h"
#include "runtime/backend/device.h"
#include "runtime/backend/device_info.h"
#include "runtime/backend/device_name.h"
#include "runtime/backend/shared_memory.h"
#include "runtime/base/status.h"

namespace topwork {

// The devices of the process's OpenCL library: device `i` is named "opencl:i". They are asked for
// once and live as long as the process. NOT_FOUND: there is no library, or no driver. UNSUPPORTED:
// this library was built without OpenCL.
Result<const std::vector<DeviceInfo>*> ListDevices();

struct FoundDevice {
  DeviceName name;  // with the device's number: "opencl:0"
  const DeviceInfo* info = nullptr;
};
// The device that an OpenCL name stands for: "opencl" is the best usable GPU, never a CPU. Nothing
// is opened. Errors: those of ListDevices; NOT_FOUND lists the devices that there are; UNSUPPORTED
// says why the device is not usable.
Result<FoundDevice> FindDevice(const DeviceName& name);

// The device that "auto" weighs against the CPU: the best GPU, or the OpenCL device that the
// environment variable TOPWORK_AUTO_DEVICE names. NOT_FOUND: there is none, or the variable is
// "off"; INVALID_ARGUMENT: it names no OpenCL device.
Result<FoundDevice> FindAutoDevice();
// What the variable says: nothing (unset or empty), to leave devices alone ("off"), or which one to
// try, for any amount of work.
enum class AutoDevice { kBest, kOff, kNamed };
AutoDevice AutoDeviceVariable();

struct OpenOptions {
  Storage storage = Storage::kFloat32;  // how the device keeps float tensors
  // Folder for compiled programs, arranged weights and measurements; "": the user's cache, "off": none.
  std::string cache_folder;
  int tune_ms = 0;  // for how long kernels may be measured while sessions are prepared
  // To share the device with others, a phone's display above all:
  bool low_priority = false;     // its commands wait for others', where the driver can do that
  int64_t max_kernel_nanos = 0;  // > 0: launches that take longer are cut into pieces
  // Tensors that are bound to it are read and written there without a copy, where the driver imports it.
  std::vector<SharedMemory> shared_memory;
};
// Opens the device that an OpenCL name stands for; sessions share the result and must keep it.
// Errors: those of FindDevice, and those of the driver.
Result<std::shared_ptr<const Device>> OpenDevice(const DeviceName& name,
                                                 const OpenOptions& options);

// Where `part` ("opencl", "measured") of a device's files is kept: a folder below `cache_folder`,
// or below the user's cache when that is empty. "": nothing is kept, because the folder is "off",
// the environment variable TOPWORK_OPENCL_CACHE is "off", or there is no cache.
std::string DeviceCacheFolder(const std::string& cache_folder, const char* part);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_DEVICES_H_
