// C API of the trainer in a library built without training: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status Absent() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without training; build it with TOPWORK_TRAIN=ON"));
}

}  // namespace

tw_status tw_trainer_options_init(tw_trainer_options*, size_t) { return Absent(); }
tw_status tw_trainer_create(const tw_model*, const tw_trainer_options*, tw_trainer**) {
  return Absent();
}
void tw_trainer_free(tw_trainer*) {}
tw_status tw_trainer_get_input(const tw_trainer*, size_t, tw_tensor_info*) { return Absent(); }
tw_status tw_trainer_add_examples(tw_trainer*, const tw_examples*) { return Absent(); }
tw_status tw_trainer_fit(tw_trainer*, int32_t, tw_progress_function, void*) { return Absent(); }
tw_status tw_trainer_cancel(tw_trainer*) { return Absent(); }
tw_status tw_trainer_evaluate(tw_trainer*, const tw_examples*, tw_evaluation*) { return Absent(); }
tw_status tw_trainer_export_file(const tw_trainer*, const char*) { return Absent(); }
tw_status tw_trainer_export_memory(const tw_trainer*, void**, size_t*) { return Absent(); }
tw_status tw_trainer_save(tw_trainer*, const char*) { return Absent(); }
tw_status tw_trainer_restore(tw_trainer*, const char*) { return Absent(); }
tw_status tw_trainer_get_info(const tw_trainer*, tw_trainer_info*) { return Absent(); }
tw_status tw_trainer_describe(const tw_trainer*, char**) { return Absent(); }
