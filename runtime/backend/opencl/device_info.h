// What Topwork knows of an OpenCL device, without any OpenCL type; and the choice among devices.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_INFO_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {
namespace opencl {

enum class DeviceType { kCpu, kGpu, kAccelerator, kOther };

struct DeviceInfo {
  std::string platform;          // "Portable Computing Language"
  std::string platform_version;  // "OpenCL 3.0 PoCL 3.1 ..."
  std::string name;              // "Mali-G710"
  std::string vendor;
  std::string driver;      // the driver's version
  std::string version;     // "OpenCL 3.0 ..."
  int version_number = 0;  // 300 for OpenCL 3.0, 102 for 1.2
  DeviceType type = DeviceType::kOther;
  uint64_t memory_bytes = 0;
  uint64_t local_memory_bytes = 0;  // of one work-group
  uint64_t max_allocation_bytes = 0;
  int compute_units = 0;
  int clock_mhz = 0;
  size_t max_work_group = 0;
  size_t base_align_bytes = 0;  // alignment of sub-buffers
  bool fp16 = false;            // arithmetic; half storage works everywhere
  bool images = false;
  bool host_unified = false;    // shares the processor's memory
  bool int_dot = false;         // dot products of bytes
  bool command_buffer = false;  // cl_khr_command_buffer
  bool priority_hints = false;  // cl_khr_priority_hints
  bool usable = false;
  std::string reason;  // why it is not usable
};

// What names a driver in caches and crash markers: platform, device, driver, with versions.
std::string DriverIdentity(const DeviceInfo& info);

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

// Position in `devices` of the one that `choice` names: "" or "opencl" is the best usable GPU (or
// accelerator; never a CPU), "opencl:1" the device of that number, "opencl:mali" the first usable
// one whose name, vendor or platform contains the text, whatever the case. NOT_FOUND lists the
// devices; UNSUPPORTED says why the one chosen is not usable.
Result<size_t> ChooseDevice(const std::vector<DeviceInfo>& devices, const std::string& choice);

// The devices of the process's OpenCL library, asked for once; they live as long as the process.
// NOT_FOUND: no library, or no driver; UNSUPPORTED: built without OpenCL. Thread-safe.
Result<const std::vector<DeviceInfo>*> ListDevices();

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_DEVICE_INFO_H_
