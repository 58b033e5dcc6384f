// C API of refusing and of heads beside a session's own in a library built without them.
#include "runtime/api/handles.h"

namespace {

tw_status Without(const char* what) {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without {}; build it with TOPWORK_LEARN=ON and TOPWORK_TRAIN=ON",
      what));
}

}  // namespace

tw_status tw_session_get_rejection(tw_session*, size_t, tw_rejection*) {
  return Without("refusing of unknown examples");
}

tw_status tw_session_attach_head(tw_session*, const tw_head_file*) {
  return Without("heads of sessions");
}

tw_status tw_session_detach_head(tw_session*, const char*) { return Without("heads of sessions"); }
