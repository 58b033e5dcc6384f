// The parser of device names.
#include "runtime/backend/device_name.h"

#include <algorithm>

namespace topwork {
namespace {

const char kAuto[] = "auto";
const char kCpu[] = "cpu";
const char kOpencl[] = "opencl";
const char kAllowed[] = "auto, cpu, opencl, opencl:NUMBER and opencl:NAME are allowed";
constexpr size_t kMaxDigits = 4;

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string DeviceName::ToString() const {
  if (kind == Kind::kAuto) return kAuto;
  if (kind == Kind::kCpu) return kCpu;
  if (number >= 0) return StrFormat("{}:{}", kOpencl, number);
  return part.empty() ? kOpencl : std::string(kOpencl) + ":" + part;
}

Result<DeviceName> ParseDeviceName(const std::string& text) {
  if (text.empty()) return InvalidArgument("the name of the device is empty; {}", kAllowed);
  if (text == kAuto) return DeviceName::Auto();
  if (text == kCpu) return DeviceName::Cpu();
  if (text == kOpencl) return DeviceName::Opencl();
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon != std::string::npos && (kind == kAuto || kind == kCpu)) {
    return InvalidArgument("'{}': only opencl takes a number or a name; {}", text, kAllowed);
  }
  if (colon == std::string::npos || kind != kOpencl) {
    return InvalidArgument("'{}' names no device; {}", text, kAllowed);
  }
  const std::string rest = text.substr(colon + 1);
  if (Trimmed(rest).empty()) {
    return InvalidArgument("'{}' has no number or name after the colon; {}", text, kAllowed);
  }
  if (rest.find_first_not_of("0123456789") != std::string::npos) {
    return DeviceName{DeviceName::Kind::kOpencl, -1, rest};
  }
  if (rest.size() > kMaxDigits) {
    return InvalidArgument("'{}': the number has more than {} digits", text, kMaxDigits);
  }
  int number = 0;
  for (const char digit : rest) number = 10 * number + (digit - '0');
  return DeviceName::Opencl(number);
}

Result<std::vector<DeviceName>> ParseDeviceNames(const std::string& list) {
  std::vector<DeviceName> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    TW_ASSIGN_OR_RETURN(DeviceName name, ParseDeviceName(Trimmed(list.substr(begin, end - begin))));
    names.push_back(std::move(name));
    begin = end + 1;
  }
  const bool has_auto = std::find(names.begin(), names.end(), DeviceName::Auto()) != names.end();
  if (!has_auto || names.size() == 1) return names;
  return InvalidArgument("'{}': auto stands alone, it is not part of a list", list);
}

}  // namespace topwork
