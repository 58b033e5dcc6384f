// C API: the devices of this machine.
#include <vector>

#include "kernels/contract/cpu_kernels.h"
#include "ports/port.h"
#include "runtime/api/handles.h"
#include "runtime/backend/opencl/device_info.h"
#include "runtime/base/json.h"

using topwork::InvalidArgument;
using topwork::JsonWriter;
using topwork::StrFormat;
using topwork::api::Report;
using topwork::opencl::DeviceInfo;
using topwork::opencl::DeviceType;

namespace {

// The OpenCL devices; null where there are none. They live as long as the process.
const std::vector<DeviceInfo>* OpenclDevices() {
  const auto devices = topwork::opencl::ListDevices();
  return devices.ok() ? devices.value() : nullptr;
}

// "opencl:0", "opencl:1" ..., for as long as the process.
const char* DeviceId(size_t index) {
  static const std::vector<std::string>* const ids = [] {
    auto* all = new std::vector<std::string>;
    const size_t n = OpenclDevices() != nullptr ? OpenclDevices()->size() : 0;
    for (size_t i = 0; i < n; ++i) all->push_back(StrFormat("opencl:%zu", i));
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

tw_device_info CpuInfo() {
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  info.id = "cpu";
  info.name = "CPU";
  info.type = "cpu";
  info.vendor = info.platform = info.driver = info.version = info.reason = "";
  info.n_compute_units = topwork::port::NumCpus();
  info.shares_memory = 1;
  info.is_usable = 1;
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
  return info;
}

void WriteText(JsonWriter* json, const char* key, const std::string& value) {
  json->Key(key);
  json->String(value);
}

void WriteInt(JsonWriter* json, const char* key, uint64_t value) {
  json->Key(key);
  json->Int(static_cast<int64_t>(value));
}

void WriteBool(JsonWriter* json, const char* key, bool value) {
  json->Key(key);
  json->Bool(value);
}

void DescribeCpu(JsonWriter* json) {
  json->BeginObject();
  WriteText(json, "device", "cpu");
  WriteText(json, "id", "cpu");
  WriteText(json, "name", "CPU");
  WriteBool(json, "available", true);
  WriteText(json, "instruction_set", topwork::BestCpuKernels().isa);
  WriteInt(json, "n_threads", static_cast<uint64_t>(topwork::port::NumCpus()));
  json->EndObject();
}

void DescribeOpencl(JsonWriter* json, size_t index, const DeviceInfo& device) {
  json->BeginObject();
  WriteText(json, "device", "opencl");
  WriteText(json, "id", DeviceId(index));
  WriteText(json, "name", device.name);
  WriteBool(json, "available", device.usable);
  if (!device.usable) WriteText(json, "reason", device.reason);
  WriteText(json, "type", TypeName(device.type));
  WriteText(json, "vendor", device.vendor);
  WriteText(json, "platform", device.platform);
  WriteText(json, "driver", device.driver);
  WriteText(json, "version", device.version);
  WriteInt(json, "n_compute_units", static_cast<uint64_t>(device.compute_units));
  WriteInt(json, "memory_bytes", device.memory_bytes);
  WriteInt(json, "local_memory_bytes", device.local_memory_bytes);
  WriteInt(json, "max_allocation_bytes", device.max_allocation_bytes);
  WriteBool(json, "has_fp16", device.fp16);
  WriteBool(json, "has_images", device.images);
  WriteBool(json, "has_int_dot", device.int_dot);
  WriteBool(json, "shares_memory", device.host_unified);
  json->EndObject();
}

void DescribeAbsence(JsonWriter* json, const std::string& reason) {
  json->BeginObject();
  WriteText(json, "device", "opencl");
  WriteText(json, "id", "opencl");
  WriteText(json, "name", "OpenCL");
  WriteBool(json, "available", false);
  WriteText(json, "reason", reason);
  json->EndObject();
}

}  // namespace

tw_status tw_device_count(size_t* out_n_devices) {
  TW_REQUIRE(out_n_devices);
  const std::vector<DeviceInfo>* devices = OpenclDevices();
  *out_n_devices = 1 + (devices != nullptr ? devices->size() : 0);
  return TW_STATUS_OK;
}

tw_status tw_device_get_info(size_t index, tw_device_info* info) {
  TW_REQUIRE(info);
  const std::vector<DeviceInfo>* devices = OpenclDevices();
  const size_t count = 1 + (devices != nullptr ? devices->size() : 0);
  if (index >= count) {
    return Report(InvalidArgument("device %zu does not exist; there are %zu", index, count));
  }
  const tw_device_info filled =
      index == 0 ? CpuInfo() : OpenclInfo(index - 1, (*devices)[index - 1]);
  return Report(topwork::api::WriteStruct("tw_device_info", filled, info));
}

tw_status tw_device_describe(char** out_json) {
  TW_REQUIRE(out_json);
  JsonWriter json;
  json.BeginArray();
  DescribeCpu(&json);
  const auto devices = topwork::opencl::ListDevices();
  if (!devices.ok()) DescribeAbsence(&json, devices.status().message());
  for (size_t i = 0; devices.ok() && i < devices.value()->size(); ++i) {
    DescribeOpencl(&json, i, (*devices.value())[i]);
  }
  json.EndArray();
  return topwork::api::GiveString(json.text(), out_json);
}
