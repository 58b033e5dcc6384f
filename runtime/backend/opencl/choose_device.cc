// Which device a text like "opencl:mali" means, and which drivers are refused outright.
#include <algorithm>
#include <cctype>
#include <tuple>

#include "runtime/backend/opencl/device_info.h"

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
    text += StrFormat("%s opencl:%zu (%s%s)", i > 0 ? "," : "", i, devices[i].name.c_str(),
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
      "no usable OpenCL GPU%s; %s. An OpenCL device that is a CPU is used only when it is named, "
      "as in opencl:0",
      reasons.c_str(), Listed(devices).c_str());
}

Result<size_t> ByNumber(const std::vector<DeviceInfo>& devices, const std::string& digits) {
  size_t index = 0;
  for (const char c : digits) {
    index = std::min<size_t>(index * 10 + static_cast<size_t>(c - '0'), 1000000);
  }
  if (index >= devices.size()) {
    return NotFound("OpenCL device %s does not exist; %s", digits.c_str(), Listed(devices).c_str());
  }
  if (!devices[index].usable) {
    return Unsupported("OpenCL device %zu (%s) is not usable: %s", index,
                       devices[index].name.c_str(), devices[index].reason.c_str());
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
    return Unsupported("OpenCL device '%s' is not usable: %s", refused->name.c_str(),
                       refused->reason.c_str());
  }
  return NotFound("no OpenCL device is named '%s'; %s", name.c_str(), Listed(devices).c_str());
}

}  // namespace

std::string DriverIdentity(const DeviceInfo& info) {
  return info.platform + "\n" + info.platform_version + "\n" + info.name + "\n" + info.vendor +
         "\n" + info.driver + "\n" + info.version;
}

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

Result<size_t> ChooseDevice(const std::vector<DeviceInfo>& devices, const std::string& choice) {
  const std::string prefix = "opencl";
  std::string rest = choice;
  if (rest.compare(0, prefix.size(), prefix) == 0) rest = rest.substr(prefix.size());
  if (rest.empty()) return BestGpu(devices);
  if (rest[0] != ':' || rest.size() == 1) {
    return InvalidArgument(
        "'%s' names no device; write opencl, opencl:<number> or opencl:<part of its name>",
        choice.c_str());
  }
  rest.erase(0, 1);
  const bool number = rest.find_first_not_of("0123456789") == std::string::npos;
  return number ? ByNumber(devices, rest) : ByName(devices, rest);
}

}  // namespace opencl
}  // namespace topwork
