// C API: class activation maps.
#include "kernels/contract/selection.h"
#include "runtime/api/handles.h"
#include "runtime/train/head/activation_map.h"

tw_status tw_model_add_activation_map(const tw_model* model, size_t index, tw_model** out_model) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_model);
  if (topwork::kTrainsLastAlone) {
    return topwork::api::Report(topwork::Unsupported("{}: {}", __func__, topwork::kBuiltForLast));
  }
  const size_t n = model->model->main().outputs.size();
  if (index >= n) {
    return topwork::api::Report(
        topwork::InvalidArgument("output {} does not exist: the model has {}", index, n));
  }
  return topwork::api::GiveModel(
      topwork::ExportWithActivationMap(*model->model, static_cast<int>(index)), out_model);
}
