// Which device a name like "opencl:mali" means, and which drivers are refused outright.
#include "runtime/backend/opencl/choose_device.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <tuple>

namespace topwork {
namespace opencl {
namespace {

const DenyRow kDenyRows[] = {
    {"Clover", "", "", "Mesa's Clover driver is no longer maintained; use Mesa's rusticl"},
    {"Portable Computing Language", "Tegra X1", "3.0",
     "PoCL 3.0 is known not to work on this GPU; use another version of PoCL"},
};

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string Listed(const std::vector<DeviceInfo>& devices) {
  if (devices.empty()) return "there is none";
  std::string text = "there are";
  for (size_t i = 0; i < devices.size(); ++i) {
    text += StrFormat("{} opencl:{} ({}{})", i > 0 ? "," : "", i, devices[i].name,
                      devices[i].usable ? "" : ", not usable");
  }
  return text;
}

// More is better: own memory, then arithmetic units times clock, then memory.
std::tuple<bool, int64_t, uint64_t> Rank(const DeviceInfo& info) {
  const int64_t speed = int64_t{info.compute_units} * std::max(info.clock_mhz, 1);
  return {!info.host_unified, speed, info.memory_bytes};
}

Result<size_t> BestGpu(const std::vector<DeviceInfo>& devices) {
  size_t best = devices.size();
  std::string reasons;
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i];
    if (info.type == DeviceType::kCpu) continue;
    if (!info.usable) {
      reasons += "; " + info.name + ": " + info.reason;
    } else if (best == devices.size() || Rank(info) > Rank(devices[best])) {
      best = i;
    }
  }
  if (best < devices.size()) return best;
  return NotFound(
      "no usable OpenCL GPU{}; {}. An OpenCL device that is a CPU is used only when it is named, "
      "as in opencl:0",
      reasons, Listed(devices));
}

Result<size_t> ByNumber(const std::vector<DeviceInfo>& devices, int number) {
  const size_t index = static_cast<size_t>(number);
  if (index >= devices.size()) {
    return NotFound("OpenCL device {} does not exist; {}", number, Listed(devices));
  }
  if (!devices[index].usable) {
    return Unsupported("OpenCL device {} ({}) is not usable: {}", number, devices[index].name,
                       devices[index].reason);
  }
  return index;
}

Result<size_t> ByName(const std::vector<DeviceInfo>& devices, const std::string& name) {
  const std::string wanted = Lower(name);
  const DeviceInfo* refused = nullptr;
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i];
    const std::string text =
        Lower(info.name + "\n" + info.vendor + "\n" + info.platform + "\n" + info.platform_version);
    if (!Contains(text, wanted.c_str())) continue;
    if (info.usable) return i;
    if (refused == nullptr) refused = &info;
  }
  if (refused != nullptr) {
    return Unsupported("OpenCL device '{}' is not usable: {}", refused->name, refused->reason);
  }
  return NotFound("no OpenCL device is named '{}'; {}", name, Listed(devices));
}

}  // namespace

Span<const DenyRow> DenyRows() { return {kDenyRows, sizeof(kDenyRows) / sizeof(kDenyRows[0])}; }

const char* DenyReason(const DeviceInfo& info, Span<const DenyRow> rows) {
  for (const DenyRow& row : rows) {
    if (Contains(info.platform, row.platform) && Contains(info.name, row.device) &&
        Contains(info.driver, row.driver)) {
      return row.reason;
    }
  }
  return nullptr;
}

const GpuFamily& FamilyOf(const DeviceInfo& info) {
  const bool is_gpu = info.type != DeviceType::kCpu;
  return GpuFamilyOf(is_gpu ? info.name : "a CPU", is_gpu ? info.vendor : "", info.int_dot);
}

Result<size_t> ChooseDevice(const std::vector<DeviceInfo>& devices, const DeviceName& name) {
  if (!name.is_opencl()) {
    return InvalidArgument("'{}' is no OpenCL device", name.ToString());
  }
  if (name.number >= 0) return ByNumber(devices, name.number);
  return name.part.empty() ? BestGpu(devices) : ByName(devices, name.part);
}

}  // namespace opencl
}  // namespace topwork
