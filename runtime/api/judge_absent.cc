// C API of judges of any scores in a library built without them: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutJudges() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without judges; build it with TOPWORK_JUDGE=ON"));
}

}  // namespace

tw_status tw_judge_create(const tw_judge_options*, tw_judge**) { return WithoutJudges(); }
void tw_judge_free(tw_judge*) {}
tw_status tw_judge_add(tw_judge*, const float*, size_t, int64_t, const float*, int32_t) {
  return WithoutJudges();
}
tw_status tw_judge_read(tw_judge*, tw_evaluation*) { return WithoutJudges(); }
