// C API: opening models and reading what they carry. The JSON description is in model_json.cc.
#include <new>

#include "runtime/api/handles.h"
#include "runtime/api/model_json.h"

using topwork::InvalidArgument;
using topwork::Model;
using topwork::NotFound;
using topwork::Result;
using topwork::api::Report;

namespace {

tw_status MakeHandle(const Result<std::shared_ptr<const Model>>& opened, tw_model** out_model) {
  if (!opened.ok()) return Report(opened.status());
  tw_model* handle = new (std::nothrow) tw_model{opened.value()};
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_model"));
  *out_model = handle;
  return TW_STATUS_OK;
}

tw_status BeyondLast(const char* what, size_t index, size_t n) {
  return Report(InvalidArgument("%s %zu does not exist: the model has %zu", what, index, n));
}

}  // namespace

tw_status tw_model_open_file(const char* path, tw_model** out_model) {
  TW_REQUIRE(path);
  TW_REQUIRE(out_model);
  return MakeHandle(Model::OpenFile(path), out_model);
}

tw_status tw_model_open_memory(const void* data, size_t data_bytes, int copy,
                               tw_model** out_model) {
  TW_REQUIRE(data);
  TW_REQUIRE(out_model);
  return MakeHandle(Model::OpenMemory(data, data_bytes, copy != 0), out_model);
}

tw_status tw_model_open_fd(int fd, int64_t offset_bytes, int64_t length_bytes,
                           tw_model** out_model) {
  TW_REQUIRE(out_model);
  if (fd < 0) return Report(InvalidArgument("file descriptor %d is not open", fd));
  if (offset_bytes < 0 || length_bytes < -1) {
    return Report(InvalidArgument(
        "offset_bytes %lld and length_bytes %lld must not be negative (length_bytes -1: to the "
        "end)",
        static_cast<long long>(offset_bytes), static_cast<long long>(length_bytes)));
  }
  return MakeHandle(Model::OpenFd(fd, offset_bytes, length_bytes), out_model);
}

void tw_model_free(tw_model* model) { delete model; }

tw_status tw_model_describe(const tw_model* model, char** out_json) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_json);
  return topwork::api::GiveString(topwork::api::ModelToJson(*model->model), out_json);
}

tw_status tw_model_count_labels(const tw_model* model, size_t* out_n_labels) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_n_labels);
  *out_n_labels = model->model->labels().size();
  return TW_STATUS_OK;
}

tw_status tw_model_get_label(const tw_model* model, size_t index, const char** out_label) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_label);
  const std::vector<std::string>& labels = model->model->labels();
  if (index >= labels.size()) return BeyondLast("label", index, labels.size());
  *out_label = labels[index].c_str();
  return TW_STATUS_OK;
}

tw_status tw_model_count_signatures(const tw_model* model, size_t* out_n_signatures) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_n_signatures);
  *out_n_signatures = model->model->signatures().size();
  return TW_STATUS_OK;
}

tw_status tw_model_get_signature(const tw_model* model, size_t index, const char** out_key) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_key);
  const std::vector<topwork::Signature>& signatures = model->model->signatures();
  if (index >= signatures.size()) return BeyondLast("signature", index, signatures.size());
  *out_key = signatures[index].key.c_str();
  return TW_STATUS_OK;
}

tw_status tw_model_get_metadata(const tw_model* model, const char* name, const void** out_data,
                                size_t* out_data_bytes) {
  TW_REQUIRE(model);
  TW_REQUIRE(name);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  for (const topwork::MetadataEntry& entry : model->model->metadata()) {
    if (entry.name != name) continue;
    *out_data = entry.data.data();
    *out_data_bytes = entry.data.size();
    return TW_STATUS_OK;
  }
  return Report(NotFound("the model has no metadata entry '%s' (it has %zu entries)", name,
                         model->model->metadata().size()));
}

tw_status tw_model_get_file(const tw_model* model, const char* name, const void** out_data,
                            size_t* out_data_bytes) {
  TW_REQUIRE(model);
  TW_REQUIRE(name);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  for (const topwork::AssociatedFile& file : model->model->associated_files()) {
    if (file.name != name) continue;
    *out_data = file.content.data();
    *out_data_bytes = file.content.size();
    return TW_STATUS_OK;
  }
  return Report(NotFound("no file '%s' is packed into the model (it has %zu files)", name,
                         model->model->associated_files().size()));
}
