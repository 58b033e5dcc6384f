// C API of learners, and of what is told of examples and heads, in a library built without them: every
// function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutLearners() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without learners; build it with TOPWORK_LEARN=ON and "
      "TOPWORK_TRAIN=ON"));
}

}  // namespace

tw_status tw_learner_create(const tw_model*, const tw_learner_options*, tw_learner**) {
  return WithoutLearners();
}
void tw_learner_free(tw_learner*) {}
tw_status tw_learner_get_input(const tw_learner*, size_t, tw_tensor_info*) {
  return WithoutLearners();
}
tw_status tw_learner_save(tw_learner*, const char*, int32_t) { return WithoutLearners(); }
tw_status tw_learner_set_classes(tw_learner*, const char* const*, const int64_t*, size_t) {
  return WithoutLearners();
}
tw_status tw_learner_add(tw_learner*, const tw_examples*) { return WithoutLearners(); }
tw_status tw_learner_remove(tw_learner*, const tw_selection*) { return WithoutLearners(); }
tw_status tw_learner_relabel(tw_learner*, const tw_selection*, int64_t) {
  return WithoutLearners();
}
tw_status tw_learner_merge(tw_learner*, const char*, int64_t*) { return WithoutLearners(); }
tw_status tw_learner_predict(tw_learner*, const tw_examples*, float*, size_t) {
  return WithoutLearners();
}
tw_status tw_learner_cancel(tw_learner*) { return WithoutLearners(); }
tw_status tw_learner_export(tw_learner*, tw_model**) { return WithoutLearners(); }
tw_status tw_learner_get_info(tw_learner*, tw_learner_info*) { return WithoutLearners(); }
tw_status tw_model_add_activation_map(const tw_model*, size_t, tw_model**) {
  return WithoutLearners();
}
tw_status tw_trainer_predict_intervals(tw_trainer*, const tw_examples*, double, float*, float*,
                                       size_t, tw_interval_check*) {
  return WithoutLearners();
}
tw_status tw_trainer_audit(tw_trainer*, const tw_audit_options*, tw_audit*) {
  return WithoutLearners();
}
tw_status tw_trainer_suggest(tw_trainer*, const tw_examples*, tw_suggestion*, size_t) {
  return WithoutLearners();
}
tw_status tw_model_merge_heads(const tw_model* const*, size_t, tw_model**) {
  return WithoutLearners();
}
