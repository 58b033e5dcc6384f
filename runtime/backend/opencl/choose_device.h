// The choice among OpenCL devices, and the drivers that are never used. Nothing here calls OpenCL.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_CHOOSE_DEVICE_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_CHOOSE_DEVICE_H_

#include <vector>

#include "kernels/gpu/gpu_family.h"
#include "runtime/backend/device_info.h"
#include "runtime/backend/device_name.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {
namespace opencl {

// A driver that is known not to work: substrings of the platform's, the device's and the driver's
// text ("" matches everything).
struct DenyRow {
  const char* platform;
  const char* device;
  const char* driver;
  const char* reason;
};
Span<const DenyRow> DenyRows();
// The reason of the first row that matches; null when none does.
const char* DenyReason(const DeviceInfo& info, Span<const DenyRow> rows);

// The family of a device that is a GPU; of others, that of no name.
const GpuFamily& FamilyOf(const DeviceInfo& info);

// Position in `devices` of the one that an OpenCL name stands for: without number and text the best
// usable GPU (or accelerator; never a CPU), with a number the device of that number, with a text
// the first usable one whose name, vendor or platform contains it, whatever the case. NOT_FOUND
// lists the devices; UNSUPPORTED says why the one chosen is not usable; INVALID_ARGUMENT: the name
// is that of no OpenCL device.
Result<size_t> ChooseDevice(const std::vector<DeviceInfo>& devices, const DeviceName& name);

// See topwork::ListDevices.
Result<const std::vector<DeviceInfo>*> ListDevices();

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_CHOOSE_DEVICE_H_
