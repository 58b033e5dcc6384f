// C API of the trainer in a library built without training: every function says
// so.
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
tw_status tw_trainer_fit(tw_trainer*, const tw_fit_options*, int32_t*) { return Absent(); }
tw_status tw_trainer_cancel(tw_trainer*) { return Absent(); }
tw_status tw_trainer_evaluate(tw_trainer*, const tw_examples*, int32_t, tw_evaluation*) {
  return Absent();
}
tw_status tw_trainer_predict(tw_trainer*, const tw_examples*, float*, size_t) { return Absent(); }
tw_status tw_trainer_calibrate(tw_trainer*, tw_calibration*) { return Absent(); }
tw_status tw_trainer_set_golden(tw_trainer*, const tw_examples*) { return Absent(); }
tw_status tw_trainer_check_export(tw_trainer*, tw_export_check*) { return Absent(); }
tw_status tw_trainer_export(tw_trainer*, tw_model**) { return Absent(); }
tw_status tw_trainer_set_classes(tw_trainer*, const char* const*, const int64_t*, size_t) {
  return Absent();
}
tw_status tw_trainer_get_info(const tw_trainer*, tw_trainer_info*) { return Absent(); }
tw_status tw_trainer_read_parameter(const tw_trainer*, const char*, float*, size_t) {
  return Absent();
}
tw_status tw_trainer_write_parameter(tw_trainer*, const char*, const float*, size_t) {
  return Absent();
}
tw_status tw_trainer_compute_update(const tw_trainer*, const float*, size_t, double, double,
                                    uint64_t, float*) {
  return Absent();
}
tw_status tw_trainer_save_head(const tw_trainer*, const char*) { return Absent(); }
tw_status tw_trainer_save_checkpoint(tw_trainer*, const char*, int32_t) { return Absent(); }
tw_status tw_trainer_load(tw_trainer*, const char*) { return Absent(); }
tw_status tw_trainer_hold_file(tw_trainer*, const char*) { return Absent(); }
