// C API of refusing in a library built without it: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutRefusing() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without refusing of unknown examples; build it with "
      "TOPWORK_LEARN=ON and TOPWORK_TRAIN=ON"));
}

}  // namespace

tw_status tw_session_get_rejection(tw_session*, size_t, tw_rejection*) { return WithoutRefusing(); }
