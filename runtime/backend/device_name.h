// The text that names a device: in options, in command line flags, in plans and in caches.
//
//   auto         the faster of the CPU and the best GPU
//   cpu          the processor
//   opencl       the best OpenCL GPU
//   opencl:1     the OpenCL device of that number
//   opencl:mali  the first OpenCL device whose name, vendor or platform contains the text
//
// This is the only parser of such texts.
#ifndef TOPWORK_RUNTIME_BACKEND_DEVICE_NAME_H_
#define TOPWORK_RUNTIME_BACKEND_DEVICE_NAME_H_

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace topwork {

struct DeviceName {
  enum class Kind { kAuto, kCpu, kOpencl };
  Kind kind = Kind::kCpu;
  int number = -1;   // 1 for "opencl:1"; -1 without a number
  std::string part;  // "mali" for "opencl:mali"; empty without a name

  static DeviceName Auto() { return {Kind::kAuto, -1, ""}; }
  static DeviceName Cpu() { return {Kind::kCpu, -1, ""}; }
  static DeviceName Opencl() { return {Kind::kOpencl, -1, ""}; }
  static DeviceName Opencl(int number) { return {Kind::kOpencl, number, ""}; }

  bool is_auto() const { return kind == Kind::kAuto; }
  bool is_cpu() const { return kind == Kind::kCpu; }
  bool is_opencl() const { return kind == Kind::kOpencl; }
  bool operator==(const DeviceName& other) const {
    return kind == other.kind && number == other.number && part == other.part;
  }
  bool operator!=(const DeviceName& other) const { return !(*this == other); }

  // The text again.
  std::string ToString() const;
};

// INVALID_ARGUMENT: the message says what is wrong with the text and which texts are allowed.
Result<DeviceName> ParseDeviceName(const std::string& text);

// A list such as "cpu,opencl:0,opencl:1"; spaces around a name are ignored. "auto" is allowed only
// as the whole list. Errors: as ParseDeviceName.
Result<std::vector<DeviceName>> ParseDeviceNames(const std::string& list);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_DEVICE_NAME_H_
