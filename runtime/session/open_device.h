// From a device's name to session options that use it.
#ifndef TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_
#define TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_

#include "runtime/backend/devices.h"
#include "runtime/session/auto_session.h"

namespace topwork {

struct DeviceOptions : OpenOptions {
  bool all_there = false;  // whatever it can compute, whether or not that is worth its transfers
};

// Adds the device that an OpenCL name stands for to a session's backends, with what is known of its
// speed, and where some operators need float32, a second one that stores that.
Status AddDevice(const DeviceOptions& device, const DeviceName& name, SessionOptions* options);

// A session on the faster of the CPU and the device that FindAutoDevice finds; see CreateFaster.
Result<std::unique_ptr<Session>> CreateOnFaster(std::shared_ptr<const Model> model,
                                                const SessionOptions& options,
                                                const DeviceOptions& device);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_OPEN_DEVICE_H_
