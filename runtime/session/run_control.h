// RunControl: what other threads may do with a session's runs. It outlives the Session, which
// another may replace (Session::WithModel): who holds it may use it from any thread.
#ifndef TOPWORK_RUNTIME_SESSION_RUN_CONTROL_H_
#define TOPWORK_RUNTIME_SESSION_RUN_CONTROL_H_

#include "runtime/base/cancellation.h"
#include "runtime/session/async_run.h"

namespace topwork {

struct RunControl {
  // Cancels a run in flight and waits until it and its callback are done; none starts afterwards.
  void Stop() {
    async.Stop([this] { cancellation.Request(); });
  }

  Cancellation cancellation;
  AsyncRun async;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_RUN_CONTROL_H_
