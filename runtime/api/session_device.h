// From a session's device options to a session on that device.
#ifndef TOPWORK_RUNTIME_API_SESSION_DEVICE_H_
#define TOPWORK_RUNTIME_API_SESSION_DEVICE_H_

#include <memory>

#include "runtime/session/session.h"
#include "topwork/topwork.h"

namespace topwork {
namespace api {

// Creates the session where c_options.device says; `options` has all that is no matter of devices.
// "auto": see CreateOnFaster.
Result<std::unique_ptr<Session>> CreateOnDevice(std::shared_ptr<const Model> model,
                                                const tw_session_options& c_options,
                                                SessionOptions options);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_SESSION_DEVICE_H_
