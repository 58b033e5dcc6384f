// C API of judging a trainer's head in a library built without it: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutJudging() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without judging of heads; build it with TOPWORK_JUDGE=ON"));
}

}  // namespace

tw_status tw_trainer_evaluate(tw_trainer*, const tw_examples*, int32_t, tw_evaluation*) {
  return WithoutJudging();
}
tw_status tw_trainer_calibrate(tw_trainer*, tw_calibration*) { return WithoutJudging(); }
tw_status tw_trainer_set_golden(tw_trainer*, const tw_examples*) { return WithoutJudging(); }
tw_status tw_trainer_check_export(tw_trainer*, tw_export_check*) { return WithoutJudging(); }
