// AddDevice opens the backend and looks up the device's speed.
#include "runtime/session/open_device.h"

#include <utility>

#include "runtime/base/log.h"
#include "runtime/plan/measure_cost.h"

namespace topwork {
namespace {

// A CPU under OpenCL is there because somebody named it, to be used: it shares the processor that
// it would be weighed against.
bool IsWeighed(const DeviceOptions& device, const DeviceInfo& info) {
  return !device.all_there && info.type != DeviceType::kCpu;
}

Result<Weighed> FindWeighed(const DeviceOptions& device) {
  TW_ASSIGN_OR_RETURN(const FoundDevice found, FindAutoDevice());
  Weighed weighed;
  weighed.label = found.name.ToString();
  weighed.identity = StrFormat("%s; storage %zu, all there %d", DriverIdentity(*found.info).c_str(),
                               StorageBytes(device.storage), device.all_there);
  weighed.cache_folder = device.cache_folder;
  weighed.add = [device, name = found.name](SessionOptions* with) {
    return AddDevice(device, name, with);
  };
  return weighed;
}

}  // namespace

Status AddDevice(const DeviceOptions& device, const DeviceName& name, SessionOptions* options) {
  TW_ASSIGN_OR_RETURN(auto backend, OpenDevice(name, device));
  const Result<FoundDevice> found = FindDevice(name);
  if (found.ok() && IsWeighed(device, *found.value().info)) {
    const DeviceInfo& info = *found.value().info;
    auto cost = KnownDeviceCost(*backend, DriverIdentity(info), device.cache_folder);
    if (cost.ok()) {
      options->device_cost = cost.value();
    } else {
      Log(LogLevel::kWarning, "OpenCL: '%s' could not be measured: %s", info.name.c_str(),
          cost.status().message().c_str());
    }
  }
  options->backends.push_back(std::move(backend));
  if (device.storage == Storage::kFloat32 || options->float32_ops.empty()) return Status::Ok();
  OpenOptions wide = device;
  wide.storage = Storage::kFloat32;
  TW_ASSIGN_OR_RETURN(auto wide_backend, OpenDevice(name, wide));
  options->backends.push_back(std::move(wide_backend));
  return Status::Ok();
}

Result<std::unique_ptr<Session>> CreateOnFaster(std::shared_ptr<const Model> model,
                                                const SessionOptions& options,
                                                const DeviceOptions& device) {
  const AutoDevice variable = AutoDeviceVariable();
  if (variable == AutoDevice::kOff) return Session::Create(std::move(model), options);
  return CreateFaster(std::move(model), options, variable == AutoDevice::kBest ? kAutoFlops : 0.0,
                      [&] { return FindWeighed(device); });
}

}  // namespace topwork
