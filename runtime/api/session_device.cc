// CreateOnDevice: opens the device, adds what is known of its speed, weighs it against the CPU.
#include "runtime/api/session_device.h"

#include <cstdlib>
#include <utility>

#include "runtime/api/handles.h"
#include "runtime/backend/opencl/device_info.h"
#include "runtime/backend/opencl/opencl_backend.h"
#include "runtime/base/log.h"
#include "runtime/plan/measure_cost.h"
#include "runtime/session/auto_session.h"

namespace topwork {
namespace api {
namespace {

std::string IdentityOf(const opencl::DeviceInfo& info) {
  return info.platform + "; " + info.platform_version + "; " + info.name + "; " + info.driver +
         "; " + info.version;
}

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
bool IsWeighed(const tw_session_options& c_options, const opencl::DeviceInfo& info) {
  return c_options.all_on_device == 0 && info.type != opencl::DeviceType::kCpu;
}

Status ReadSharing(const tw_session_options& c_options, opencl::SharingOptions* sharing) {
  if (c_options.low_priority < 0 || c_options.low_priority > 1) {
    return InvalidArgument("tw_session_options.low_priority is %d; 0 and 1 are allowed",
                           c_options.low_priority);
  }
  if (c_options.max_kernel_ms < 0 || c_options.max_kernel_ms > 10000) {
    return InvalidArgument(
        "tw_session_options.max_kernel_ms is %d; 0 (no limit) to 10000 are allowed",
        c_options.max_kernel_ms);
  }
  sharing->low_priority = c_options.low_priority == 1;
  sharing->max_kernel_nanos = int64_t{1000000} * c_options.max_kernel_ms;
  return Status::Ok();
}

Status AddDevice(const tw_session_options& c_options, const std::string& choice,
                 SessionOptions* options) {
  Storage storage = Storage::kFloat32;
  TW_RETURN_IF_ERROR(ReadPrecision(c_options.precision, &storage));
  const std::string cache = c_options.cache_dir != nullptr ? c_options.cache_dir : "";
  opencl::SharingOptions sharing;
  TW_RETURN_IF_ERROR(ReadSharing(c_options, &sharing));
  TW_ASSIGN_OR_RETURN(auto backend,
                      opencl::OpenBackend(choice, storage, cache, c_options.tune_ms, sharing));
  size_t index = 0;
  const opencl::DeviceInfo* info = FindDevice(choice, &index);
  if (info != nullptr && IsWeighed(c_options, *info)) {
    auto cost = KnownDeviceCost(*backend, IdentityOf(*info), cache);
    if (cost.ok()) {
      options->device_cost = cost.value();
    } else {
      Log(LogLevel::kWarning, "OpenCL: '%s' could not be measured: %s", info->name.c_str(),
          cost.status().message().c_str());
    }
  }
  options->backends.push_back(std::move(backend));
  if (storage == Storage::kFloat32 || options->float32_ops.empty()) return Status::Ok();
  TW_ASSIGN_OR_RETURN(
      auto wide, opencl::OpenBackend(choice, Storage::kFloat32, cache, c_options.tune_ms, sharing));
  options->backends.push_back(std::move(wide));
  return Status::Ok();
}

// The device that TW_DEVICE_AUTO weighs; null: none.
const opencl::DeviceInfo* AutoChoice(size_t* index) {
  const char* variable = std::getenv("TOPWORK_AUTO_DEVICE");
  const std::string wanted = variable != nullptr ? variable : "";
  return wanted == "off" ? nullptr : FindDevice(wanted, index);
}

}  // namespace

Result<std::unique_ptr<Session>> CreateOnDevice(std::shared_ptr<const Model> model,
                                                const tw_session_options& c_options,
                                                SessionOptions options) {
  std::string choice;
  Storage storage = Storage::kFloat32;
  TW_RETURN_IF_ERROR(ReadDevice(c_options.device, c_options.device_name, &choice));
  TW_RETURN_IF_ERROR(ReadPrecision(c_options.precision, &storage));
  opencl::SharingOptions sharing;
  TW_RETURN_IF_ERROR(ReadSharing(c_options, &sharing));
  if (!choice.empty()) {
    TW_RETURN_IF_ERROR(AddDevice(c_options, choice, &options));
    return Session::Create(std::move(model), options);
  }
  size_t index = 0;
  const opencl::DeviceInfo* info =
      c_options.device == TW_DEVICE_AUTO ? AutoChoice(&index) : nullptr;
  if (info == nullptr) return Session::Create(std::move(model), options);
  AutoDevice device;
  device.label = StrFormat("opencl:%zu", index);
  device.identity = StrFormat("%s; storage %zu, all there %d", IdentityOf(*info).c_str(),
                              StorageBytes(storage), c_options.all_on_device);
  device.cache_folder = c_options.cache_dir != nullptr ? c_options.cache_dir : "";
  device.add = [&](SessionOptions* with) { return AddDevice(c_options, device.label, with); };
  return CreateFaster(std::move(model), options, device);
}

}  // namespace api
}  // namespace topwork
