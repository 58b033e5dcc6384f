// C API: pruning a model.
#include "models/format/compress/prune.h"
#include "runtime/api/handles.h"

using topwork::PruneReport;
using topwork::PruneSpec;
using topwork::api::Report;

namespace {

PruneSpec ConvertOptions(const tw_prune_options& in) {
  PruneSpec spec;
  if (in.sparsity != 0.0) spec.sparsity = in.sparsity;
  spec.global = in.global != 0;
  if (in.block_rows != 0) spec.block_rows = in.block_rows;
  if (in.block_columns != 0) spec.block_columns = in.block_columns;
  if (in.min_elements != 0) spec.min_elements = in.min_elements;
  spec.sparse_storage = in.sparse_storage != 0;
  return spec;
}

}  // namespace

tw_status tw_model_prune(const tw_model* model, const tw_prune_options* options,
                         tw_model** out_model, tw_prune_report* report) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_model);
  tw_prune_options in = {};
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_prune_options", options, &in));
  }
  PruneReport pruned;
  auto bytes = topwork::PruneModel(*model->model, ConvertOptions(in), &pruned);
  if (bytes.ok() && report != nullptr) {
    tw_prune_report result = {};
    result.n_layers = pruned.n_layers;
    result.n_sparse = pruned.n_sparse;
    result.n_weights = pruned.n_weights;
    result.n_zeros = pruned.n_zeros;
    TW_REPORT_IF_ERROR(topwork::api::WriteStruct("tw_prune_report", result, report));
  }
  return topwork::api::GiveModel(std::move(bytes), out_model);
}
