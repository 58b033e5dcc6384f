// C API of a trainer's files in a library built without them: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutCheckpoints() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without checkpoints and files of heads; build it with "
      "TOPWORK_CHECKPOINTS=ON"));
}

}  // namespace

tw_status tw_trainer_save_head(const tw_trainer*, const char*) { return WithoutCheckpoints(); }
tw_status tw_trainer_save_checkpoint(tw_trainer*, const char*, int32_t) {
  return WithoutCheckpoints();
}
tw_status tw_trainer_hold_file(tw_trainer*, const char*) { return WithoutCheckpoints(); }
tw_status tw_trainer_load(tw_trainer*, const char*) { return WithoutCheckpoints(); }
