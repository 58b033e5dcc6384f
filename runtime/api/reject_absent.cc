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
tw_status tw_trainer_add_negatives(tw_trainer*, const tw_examples*) { return WithoutRefusing(); }
tw_status tw_trainer_set_example_names(tw_trainer*, const char* const*, size_t) {
  return WithoutRefusing();
}
tw_status tw_trainer_get_rejection(tw_trainer*, tw_rejection_summary*) { return WithoutRefusing(); }
