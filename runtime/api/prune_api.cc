// C API: pruning a model.
#include "models/format/compress/prune.h"
#include "runtime/api/handles.h"
#include "runtime/base/file.h"

using topwork::PruneReport;
using topwork::PruneSpec;
using topwork::api::Report;

namespace {

tw_prune_options PruneDefaults() {
  const PruneSpec defaults;
  tw_prune_options options = {};
  options.sparsity = defaults.sparsity;
  options.block_rows = defaults.block_rows;
  options.block_columns = defaults.block_columns;
  options.min_elements = defaults.min_elements;
  return options;
}

topwork::Status Prune(const tw_model& model, const tw_prune_options* options,
                      tw_prune_report* report, std::vector<uint8_t>* out) {
  tw_prune_options in = PruneDefaults();
  if (options != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_prune_options", options, &in));
  }
  PruneSpec spec;
  spec.sparsity = in.sparsity;
  spec.global = in.global != 0;
  spec.block_rows = in.block_rows;
  spec.block_columns = in.block_columns;
  spec.min_elements = in.min_elements;
  spec.sparse_storage = in.sparse_storage != 0;
  PruneReport pruned;
  TW_ASSIGN_OR_RETURN(*out, topwork::PruneModel(*model.model, spec, &pruned));
  if (report == nullptr) return topwork::Status::Ok();
  tw_prune_report result = {};
  result.n_layers = pruned.n_layers;
  result.n_sparse = pruned.n_sparse;
  result.n_weights = pruned.n_weights;
  result.n_zeros = pruned.n_zeros;
  return topwork::api::WriteStruct("tw_prune_report", result, report);
}

}  // namespace

tw_status tw_prune_options_init(tw_prune_options* options, size_t struct_size) {
  TW_REQUIRE(options);
  return topwork::api::InitStruct("tw_prune_options", PruneDefaults(), options, struct_size);
}

tw_status tw_model_prune_file(const tw_model* model, const tw_prune_options* options,
                              const char* path, tw_prune_report* report) {
  TW_REQUIRE(model);
  TW_REQUIRE(path);
  std::vector<uint8_t> bytes;
  TW_REPORT_IF_ERROR(Prune(*model, options, report, &bytes));
  return Report(topwork::WriteFile(path, "the model", {bytes}));
}

tw_status tw_model_prune_memory(const tw_model* model, const tw_prune_options* options,
                                void** out_data, size_t* out_data_bytes, tw_prune_report* report) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  std::vector<uint8_t> bytes;
  TW_REPORT_IF_ERROR(Prune(*model, options, report, &bytes));
  const tw_status status = topwork::api::GiveBytes(bytes.data(), bytes.size(), out_data);
  if (status == TW_STATUS_OK) *out_data_bytes = bytes.size();
  return status;
}
