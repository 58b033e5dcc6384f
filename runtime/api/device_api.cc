// C API: the devices of this machine.
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "ports/port.h"
#include "runtime/api/handles.h"
#include "runtime/backend/devices.h"
#include "runtime/plan/thread_choice.h"

using topwork::DeviceInfo;
using topwork::DeviceType;
using topwork::InvalidArgument;
using topwork::ThreadChoice;
using topwork::api::Report;

namespace {

// The OpenCL devices; null where there are none. They live as long as the process.
const std::vector<DeviceInfo>* OpenclDevices() {
  const auto devices = topwork::ListDevices();
  return devices.ok() ? devices.value() : nullptr;
}

// "opencl:0", "opencl:1" ..., for as long as the process.
const char* DeviceId(size_t index) {
  static const std::vector<std::string>* const ids = [] {
    auto* all = new std::vector<std::string>;
    const size_t n = OpenclDevices() != nullptr ? OpenclDevices()->size() : 0;
    for (size_t i = 0; i < n; ++i)
      all->push_back(topwork::DeviceName::Opencl(static_cast<int>(i)).ToString());
    return all;
  }();
  return (*ids)[index].c_str();
}

const char* TypeName(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu:
      return "cpu";
    case DeviceType::kGpu:
      return "gpu";
    case DeviceType::kAccelerator:
      return "accelerator";
    case DeviceType::kOther:
      break;
  }
  return "other";
}

// What a session chooses that is not told; as of the first call.
const ThreadChoice& Threads() {
  static const auto* const choice =
      new ThreadChoice(topwork::ChooseThreads(topwork::port::FindProcessors()));
  return *choice;
}

tw_device_info CpuInfo() {
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  info.id = "cpu";
  info.name = "CPU";
  info.type = "cpu";
  info.vendor = info.platform = info.driver = info.version = info.reason = "";
  info.instruction_set = topwork::BestCpuKernels().isa;
  info.n_compute_units = topwork::port::NumCpus();
  info.shares_memory = 1;
  info.is_usable = 1;
  info.n_threads = Threads().n_threads;
  info.n_threads_reason = Threads().reason.c_str();
  return info;
}

tw_device_info OpenclInfo(size_t index, const DeviceInfo& device) {
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  info.id = DeviceId(index);
  info.name = device.name.c_str();
  info.vendor = device.vendor.c_str();
  info.platform = device.platform.c_str();
  info.driver = device.driver.c_str();
  info.version = device.version.c_str();
  info.type = TypeName(device.type);
  info.instruction_set = "";
  info.n_compute_units = device.compute_units;
  info.memory_bytes = device.memory_bytes;
  info.local_memory_bytes = device.local_memory_bytes;
  info.max_allocation_bytes = device.max_allocation_bytes;
  info.has_fp16 = device.fp16;
  info.has_images = device.images;
  info.has_int_dot = device.int_dot;
  info.shares_memory = device.host_unified;
  info.is_usable = device.usable;
  info.reason = device.reason.c_str();
  info.n_threads_reason = "";
  return info;
}

// Stands for OpenCL where there is none, and says why.
tw_device_info AbsentInfo(const char* reason) {
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  info.id = "opencl";
  info.name = "OpenCL";
  info.type = "other";
  info.vendor = info.platform = info.driver = info.version = info.instruction_set = "";
  info.reason = reason;
  info.n_threads_reason = "";
  return info;
}

// Why there is no OpenCL; for as long as the process.
const char* Absence() {
  static const std::string* const reason = [] {
    const auto devices = topwork::ListDevices();
    return new std::string(devices.ok() ? "no OpenCL device was found"
                                        : devices.status().message());
  }();
  return reason->c_str();
}

}  // namespace

tw_status tw_device_get_info(size_t index, tw_device_info* info) {
  TW_REQUIRE(info);
  const std::vector<DeviceInfo>* devices = OpenclDevices();
  const bool absent = devices == nullptr || devices->empty();
  const size_t count = 1 + (absent ? 1 : devices->size());
  if (index >= count) {
    return Report(topwork::NotFound("device {} does not exist; there are {}", index, count));
  }
  const tw_device_info filled = index == 0 ? CpuInfo()
                                : absent   ? AbsentInfo(Absence())
                                           : OpenclInfo(index - 1, (*devices)[index - 1]);
  return Report(topwork::api::WriteStruct("tw_device_info", filled, info));
}
