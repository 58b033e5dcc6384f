// From a device's name to session options that use it, and the device that needs no name.
#ifndef TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_
#define TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_

#include <string>

#include "kernels/gpu/gpu_format.h"
#include "runtime/backend/opencl/opencl_backend.h"
#include "runtime/session/auto_session.h"

namespace topwork {

struct DeviceOptions {
  Storage storage = Storage::kFloat32;
  std::string cache_folder;  // of programs and of what was measured; "": the user's cache
  int tune_ms = 0;
  opencl::SharingOptions sharing;
  bool all_there = false;  // whatever it can compute, whether or not that is worth its transfers
};

// Adds the device that `choice` names (see opencl::ChooseDevice) to a session's backends, with what
// is known of its speed, and where some operators need float32, a second one that stores that.
Status AddDevice(const DeviceOptions& device, const std::string& choice, SessionOptions* options);

// The device to be weighed against the CPU where none was named: the best GPU, or the one that the
// environment variable TOPWORK_AUTO_DEVICE names, then for any amount of work. NOT_FOUND: none,
// or the variable is "off".
Result<AutoDevice> FindAutoDevice(const DeviceOptions& device);

// A session on the faster of the CPU and FindAutoDevice's device; see CreateFaster.
Result<std::unique_ptr<Session>> CreateOnFaster(std::shared_ptr<const Model> model,
                                                const SessionOptions& options,
                                                const DeviceOptions& device);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_
