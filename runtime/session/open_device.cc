// AddDevice opens the backend and looks up the device's speed; FindAutoDevice loads OpenCL.
#include "runtime/session/open_device.h"

#include <cstdlib>
#include <utility>

#include "runtime/backend/opencl/device_info.h"
#include "runtime/base/log.h"
#include "runtime/plan/measure_cost.h"

namespace topwork {
namespace {

// The device that `choice` names and its number; null where there is none.
const opencl::DeviceInfo* FindDevice(const std::string& choice, size_t* index) {
  const auto devices = opencl::ListDevices();
  if (!devices.ok()) return nullptr;
  const Result<size_t> chosen = opencl::ChooseDevice(*devices.value(), choice);
  if (!chosen.ok()) return nullptr;
  *index = chosen.value();
  return &(*devices.value())[*index];
}

// A CPU under OpenCL is there because somebody named it, to be used: it shares the processor that
// it would be weighed against.
bool IsWeighed(const DeviceOptions& device, const opencl::DeviceInfo& info) {
  return !device.all_there && info.type != opencl::DeviceType::kCpu;
}

std::string AutoChoice() {
  const char* variable = std::getenv("TOPWORK_AUTO_DEVICE");
  return variable != nullptr ? variable : "";
}

}  // namespace

Status AddDevice(const DeviceOptions& device, const std::string& choice, SessionOptions* options) {
  const auto open = [&](Storage storage) {
    return opencl::OpenBackend(choice, storage, device.cache_folder, device.tune_ms,
                               device.sharing);
  };
  TW_ASSIGN_OR_RETURN(auto backend, open(device.storage));
  size_t index = 0;
  const opencl::DeviceInfo* info = FindDevice(choice, &index);
  if (info != nullptr && IsWeighed(device, *info)) {
    auto cost = KnownDeviceCost(*backend, opencl::DriverIdentity(*info), device.cache_folder);
    if (cost.ok()) {
      options->device_cost = cost.value();
    } else {
      Log(LogLevel::kWarning, "OpenCL: '%s' could not be measured: %s", info->name.c_str(),
          cost.status().message().c_str());
    }
  }
  options->backends.push_back(std::move(backend));
  if (device.storage == Storage::kFloat32 || options->float32_ops.empty()) return Status::Ok();
  TW_ASSIGN_OR_RETURN(auto wide, open(Storage::kFloat32));
  options->backends.push_back(std::move(wide));
  return Status::Ok();
}

Result<AutoDevice> FindAutoDevice(const DeviceOptions& device) {
  const std::string wanted = AutoChoice();
  size_t index = 0;
  const opencl::DeviceInfo* info = wanted == "off" ? nullptr : FindDevice(wanted, &index);
  if (info == nullptr) return NotFound("there is no OpenCL GPU");
  AutoDevice found;
  found.label = StrFormat("opencl:%zu", index);
  found.identity = StrFormat("%s; storage %zu, all there %d", opencl::DriverIdentity(*info).c_str(),
                             StorageBytes(device.storage), device.all_there);
  found.cache_folder = device.cache_folder;
  found.add = [device, label = found.label](SessionOptions* with) {
    return AddDevice(device, label, with);
  };
  return found;
}

Result<std::unique_ptr<Session>> CreateOnFaster(std::shared_ptr<const Model> model,
                                                const SessionOptions& options,
                                                const DeviceOptions& device) {
  if (AutoChoice() == "off") return Session::Create(std::move(model), options);
  return CreateFaster(std::move(model), options, AutoChoice().empty() ? kAutoFlops : 0.0,
                      [&] { return FindAutoDevice(device); });
}

}  // namespace topwork
