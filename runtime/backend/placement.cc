// The decision between the CPU and a device, in words.
#include "runtime/backend/placement.h"

#include "runtime/backend/devices.h"

namespace topwork {
namespace {

std::string Duration(double nanos, const std::string& what) {
  if (what == "run") return StrFormat("{:.3g} ms", nanos / 1e6);
  return StrFormat("{:.1f} us a {}", nanos / 1e3, what);
}

}  // namespace

std::string WhyTooLittle(double flops, double least_flops) {
  if (flops >= least_flops || AutoDeviceVariable() == AutoDevice::kNamed) return "";
  return StrFormat("{:.2g} million operations are too few for a device", flops * 1e-6);
}

std::string Placement::Note() const {
  return wanted_.is_auto() && !reason_.empty() ? "auto: " + note_ : "";
}

void Placement::Use(const std::string& device) {
  if (!on_device_) reason_ = note_ = "";
  on_device_ = true;
  place_ = device;
}

void Placement::StayOnCpu(const std::string& reason) {
  on_device_ = false;
  place_ = "cpu";
  reason_ = reason;
  note_ = "cpu, as " + reason;
}

bool Placement::Decide(double cpu_nanos, double device_nanos, const std::string& what,
                       const std::string& source) {
  reason_ = "cpu " + Duration(cpu_nanos, what) + ", " + place_ + " " +
            Duration(device_nanos, what) + source;
  note_ = reason_;
  is_final_ = true;
  on_device_ = device_nanos < cpu_nanos;
  if (!on_device_) place_ = "cpu";
  return on_device_;
}

void Placement::GiveUp(const std::string& why, const std::string& device) {
  reason_ = why;
  note_ = "cpu; " + (device.empty() ? place_ : device) + ": " + why;
  is_final_ = true;
  on_device_ = false;
  place_ = "cpu";
}

}  // namespace topwork
