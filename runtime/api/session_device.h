// From a session's device options to a session on that device.
#ifndef TOPWORK_RUNTIME_API_SESSION_DEVICE_H_
#define TOPWORK_RUNTIME_API_SESSION_DEVICE_H_

#include <memory>

#include "runtime/session/place_session.h"
#include "topwork/topwork.h"

namespace topwork {
namespace api {

// Creates the session where c_options.device says (see PlaceSession); `options` has all that does
// not depend on devices.
Result<PlacedSession> CreateOnDevice(std::shared_ptr<const Model> model,
                                     const tw_session_options& c_options,
                                     const SessionOptions& options);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_SESSION_DEVICE_H_
