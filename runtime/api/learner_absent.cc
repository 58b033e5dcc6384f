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
tw_status tw_learner_hold_file(tw_learner*, const char*) { return WithoutLearners(); }
tw_status tw_learner_load(tw_learner*, const char*) { return WithoutLearners(); }
tw_status tw_learner_save(tw_learner*, const char*) { return WithoutLearners(); }
tw_status tw_learner_add_class(tw_learner*, const char*, int64_t*) { return WithoutLearners(); }
tw_status tw_learner_remove_class(tw_learner*, int64_t) { return WithoutLearners(); }
tw_status tw_learner_rename_class(tw_learner*, int64_t, const char*) { return WithoutLearners(); }
tw_status tw_learner_add(tw_learner*, const tw_examples*, const char* const*) {
  return WithoutLearners();
}
tw_status tw_learner_subtract(tw_learner*, const tw_examples*) { return WithoutLearners(); }
tw_status tw_learner_remove(tw_learner*, const char* const*, size_t) { return WithoutLearners(); }
tw_status tw_learner_remove_group(tw_learner*, int32_t) { return WithoutLearners(); }
tw_status tw_learner_relabel(tw_learner*, const char*, int64_t) { return WithoutLearners(); }
tw_status tw_learner_merge(tw_learner*, const char*, int64_t*) { return WithoutLearners(); }
tw_status tw_learner_drop_features(tw_learner*) { return WithoutLearners(); }
tw_status tw_learner_solve(tw_learner*, double) { return WithoutLearners(); }
tw_status tw_learner_predict(tw_learner*, const tw_examples*, float*, size_t) {
  return WithoutLearners();
}
tw_status tw_learner_cancel(tw_learner*) { return WithoutLearners(); }
tw_status tw_learner_export(tw_learner*, tw_model**) { return WithoutLearners(); }
tw_status tw_learner_get_info(tw_learner*, tw_learner_info*) { return WithoutLearners(); }
tw_status tw_learner_get_example(const tw_learner*, int64_t, tw_learner_example*) {
  return WithoutLearners();
}
tw_status tw_model_add_activation_map(const tw_model*, size_t, tw_model**) {
  return WithoutLearners();
}
tw_status tw_trainer_find_near_duplicates(tw_trainer*, tw_near_duplicates*) {
  return WithoutLearners();
}
tw_status tw_trainer_predict_intervals(tw_trainer*, const tw_examples*, double, float*, float*,
                                       size_t) {
  return WithoutLearners();
}
tw_status tw_trainer_check_intervals(tw_trainer*, double, tw_interval_check*) {
  return WithoutLearners();
}
tw_status tw_trainer_audit(tw_trainer*, int32_t, tw_audit*) { return WithoutLearners(); }
tw_status tw_trainer_suggest(tw_trainer*, const tw_examples*, tw_suggestion*, size_t) {
  return WithoutLearners();
}
tw_status tw_model_merge_heads(const tw_model* const*, size_t, tw_model**) {
  return WithoutLearners();
}
