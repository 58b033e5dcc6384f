// C API: opening models and reading what they carry. The JSON description is in model_json.cc.
#include <algorithm>
#include <new>
#include <utility>

#include "models/format/find_output.h"
#include "models/format/parts.h"
#include "ports/port.h"
#include "runtime/api/handles.h"
#include "runtime/api/model_head.h"
#include "runtime/api/model_json.h"

using topwork::InvalidArgument;
using topwork::Model;
using topwork::NotFound;
using topwork::Result;
using topwork::api::Report;

tw_model::tw_model(std::shared_ptr<const topwork::Model> opened) : model(std::move(opened)) {
  for (const std::string& label : model->labels()) labels.push_back(label.c_str());
  for (const topwork::Signature& signature : model->signatures()) {
    signatures.push_back(signature.key.c_str());
  }
}

namespace topwork {
namespace api {

Status FindSignature(const Model& model, const char* key, const Signature** out_signature) {
  std::string keys;
  for (const Signature& signature : model.signatures()) {
    if (signature.key == key) {
      *out_signature = &signature;
      return Status::Ok();
    }
    keys += (keys.empty() ? "'" : ", '") + signature.key + "'";
  }
  return NotFound("the model has no signature '{}'; it has {}", key,
                  keys.empty() ? "none" : keys.c_str());
}

Result<int> FirstOutput(const Model& model, const Signature& signature) {
  const Graph& graph = model.subgraphs()[static_cast<size_t>(signature.subgraph)];
  for (size_t i = 0; i < graph.outputs.size() && !signature.outputs.empty(); ++i) {
    if (graph.outputs[i] == signature.outputs[0].value) return static_cast<int>(i);
  }
  return Unsupported("the signature '{}' names no output of its subgraph", signature.key);
}

tw_status GiveModel(const Result<std::shared_ptr<const Model>>& opened, tw_model** out_model) {
  if (!opened.ok()) return Report(opened.status());
  tw_model* handle = new (std::nothrow) tw_model(opened.value());
  if (handle == nullptr) return Report(OutOfMemory("could not allocate a tw_model"));
  *out_model = handle;
  return TW_STATUS_OK;
}

tw_status GiveModel(Result<std::vector<uint8_t>> bytes, tw_model** out_model) {
  if (!bytes.ok()) return Report(bytes.status());
  return GiveModel(Model::OpenOwned(std::move(bytes.value())), out_model);
}

}  // namespace api
}  // namespace topwork

namespace {

// The value at place `index` of the main subgraph's inputs or outputs, as the file has it.
tw_status DescribeValue(const topwork::Graph& graph, const std::vector<int>& values,
                        const char* what, size_t index, tw_tensor_info* info) {
  if (index >= values.size()) {
    return Report(
        InvalidArgument("{} {} does not exist: the model has {}", what, index, values.size()));
  }
  const topwork::Value& value = graph.values[static_cast<size_t>(values[index])];
  topwork::TensorView view;
  view.dtype = value.dtype;
  view.shape = value.shape;
  for (int i = 0; i < view.shape.rank(); ++i) view.shape.set_dim(i, std::max(1, view.shape[i]));
  view.quantization = value.quantization.get();
  tw_tensor_info result = topwork::api::TensorInfo(view, value.name.c_str(), &value.signature);
  result.data = nullptr;
  return Report(topwork::api::WriteStruct("tw_tensor_info", result, info));
}

}  // namespace

tw_status tw_model_open_file(const char* path, tw_model** out_model) {
  TW_REQUIRE(path);
  TW_REQUIRE(out_model);
  return topwork::api::GiveModel(Model::OpenFile(path), out_model);
}

tw_status tw_model_open_memory(const void* data, size_t data_bytes, int32_t copy,
                               tw_model** out_model) {
  TW_REQUIRE(data);
  TW_REQUIRE(out_model);
  return topwork::api::GiveModel(Model::OpenMemory(data, data_bytes, copy != 0), out_model);
}

tw_status tw_model_open_fd(int fd, int64_t offset_bytes, int64_t length_bytes,
                           tw_model** out_model) {
  TW_REQUIRE(out_model);
  if (fd < 0) return Report(InvalidArgument("file descriptor {} is not open", fd));
  if (offset_bytes < 0 || length_bytes < -1) {
    return Report(InvalidArgument(
        "offset_bytes {} and length_bytes {} must not be negative (length_bytes -1: to the end)",
        offset_bytes, length_bytes));
  }
  return topwork::api::GiveModel(Model::OpenFd(fd, offset_bytes, length_bytes), out_model);
}

void tw_model_free(tw_model* model) { delete model; }

tw_status tw_model_describe(const tw_model* model, char** out_json) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_json);
  TW_REQUIRE_DESCRIPTIONS();
  return topwork::api::GiveString(topwork::api::ModelToJson(*model->model), out_json);
}

tw_status tw_model_save(const tw_model* model, const char* path) {
  TW_REQUIRE(model);
  TW_REQUIRE(path);
  const topwork::Span<const uint8_t> bytes = model->model->bytes();
  const int error = topwork::port::WriteFileAtomic(path, bytes.data(), bytes.size());
  if (error == 0) return TW_STATUS_OK;
  return Report(
      topwork::IoError("cannot write the model '{}': {}", path, topwork::port::ErrorText(error)));
}

tw_status tw_model_get_info(const tw_model* model, tw_model_info* info) {
  TW_REQUIRE(model);
  TW_REQUIRE(info);
  const Model& it = *model->model;
  tw_model_info result = {};
  result.description = it.description().c_str();
  result.data = it.bytes().data();
  result.data_bytes = it.bytes().size();
  result.n_inputs = it.main().inputs.size();
  result.n_outputs = it.main().outputs.size();
  result.n_labels = model->labels.size();
  result.labels = model->labels.data();
  result.n_signatures = model->signatures.size();
  result.signatures = model->signatures.data();
  if (it.normalization() != nullptr) {
    const topwork::Normalization& scale = *it.normalization();
    result.n_input_scales = std::min(scale.mean.size(), scale.std.size());
    result.input_mean = scale.mean.data();
    result.input_std = scale.std.data();
  }
  result.input_sample_rate = it.sample_rate();
  return Report(topwork::api::WriteStruct("tw_model_info", result, info));
}

tw_status tw_model_get_input(const tw_model* model, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(model);
  TW_REQUIRE(info);
  const topwork::Graph& graph = model->model->main();
  return DescribeValue(graph, graph.inputs, "input", index, info);
}

tw_status tw_model_get_output(const tw_model* model, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(model);
  TW_REQUIRE(info);
  const topwork::Graph& graph = model->model->main();
  return DescribeValue(graph, graph.outputs, "output", index, info);
}

tw_status tw_model_find_output(const tw_model* model, const char* name, size_t* out_index) {
  TW_REQUIRE(model);
  TW_REQUIRE(name);
  TW_REQUIRE(out_index);
  const Result<int> found = topwork::FindOutput(*model->model, name);
  if (!found.ok()) return Report(found.status());
  *out_index = static_cast<size_t>(*found);
  return TW_STATUS_OK;
}

tw_status tw_model_get_head(const tw_model* model, size_t index, tw_head_info* info) {
  TW_REQUIRE(model);
  TW_REQUIRE(info);
  const size_t n = model->model->main().outputs.size();
  if (index >= n) {
    return Report(InvalidArgument("output {} does not exist: the model has {}", index, n));
  }
  tw_head_info result = {};
  TW_REPORT_IF_ERROR(
      topwork::api::DescribeHead(model->model->main(), static_cast<int>(index), &result));
  return Report(topwork::api::WriteStruct("tw_head_info", result, info));
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
  return Report(NotFound("the model has no metadata entry '{}' (it has {} entries)", name,
                         model->model->metadata().size()));
}

tw_status tw_model_get_file(const tw_model* model, const char* name, const void** out_data,
                            size_t* out_data_bytes) {
  TW_REQUIRE(model);
  TW_REQUIRE(name);
  TW_REQUIRE(out_data);
  TW_REQUIRE(out_data_bytes);
  if (!topwork::kHasMetadata) {
    return Report(topwork::Unsupported(
        "this library was built without metadata and files in models; build it with "
        "TOPWORK_METADATA=ON"));
  }
  for (const topwork::AssociatedFile& file : model->model->associated_files()) {
    if (file.name != name) continue;
    *out_data = file.content.data();
    *out_data_bytes = file.content.size();
    return TW_STATUS_OK;
  }
  return Report(NotFound("no file '{}' is packed into the model (it has {} files)", name,
                         model->model->associated_files().size()));
}
