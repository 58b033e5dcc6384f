// C API: heads of several models in one.
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/train/head/merge_heads.h"

using topwork::InvalidArgument;
using topwork::Model;
using topwork::api::Report;

tw_status tw_model_merge_heads(const tw_model* const* models, size_t n_models,
                               tw_model** out_model) {
  TW_REQUIRE(models);
  TW_REQUIRE(out_model);
  std::vector<const Model*> parts;
  for (size_t i = 0; i < n_models; ++i) {
    if (models[i] == nullptr) return Report(InvalidArgument("models[{}] is NULL", i));
    parts.push_back(models[i]->model.get());
  }
  return topwork::api::GiveModel(topwork::MergeHeads(parts), out_model);
}
