// C API of pruning in a library built without it.
#include "runtime/api/handles.h"

tw_status tw_model_prune(const tw_model*, const tw_prune_options*, tw_model**, tw_prune_report*) {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without pruning; build it with TOPWORK_QUANTIZER=ON"));
}
