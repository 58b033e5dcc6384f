// C API of monitors in a library built without them: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutMonitors() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without monitors; build it with TOPWORK_LEARN=ON and "
      "TOPWORK_TRAIN=ON"));
}

}  // namespace

tw_status tw_monitor_create(const tw_monitor_options*, tw_monitor**) { return WithoutMonitors(); }
tw_status tw_monitor_save(const tw_monitor*, const char*) { return WithoutMonitors(); }
void tw_monitor_free(tw_monitor*) {}
tw_status tw_monitor_add(tw_monitor*, const tw_observation*) { return WithoutMonitors(); }
tw_status tw_monitor_get_report(tw_monitor*, tw_monitor_report*) { return WithoutMonitors(); }
tw_status tw_monitor_correct(const tw_monitor*, const float*, size_t, float*) {
  return WithoutMonitors();
}
