// tw::Model over model.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_MODEL_HPP_
#define TOPWORK_MODEL_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/model.h"

namespace tw {

// A tw_model. All methods may be called from any thread.
class Model {
 public:
  static Result<Model> OpenFile(const std::string& path) {
    tw_model* handle = nullptr;
    const tw_status status = tw_model_open_file(path.c_str(), &handle);
    return Make(status, handle);
  }
  // copy = false: `data` must stay valid and unchanged as long as the model is in use.
  static Result<Model> OpenMemory(const void* data, size_t data_bytes, bool copy = true) {
    tw_model* handle = nullptr;
    const tw_status status = tw_model_open_memory(data, data_bytes, copy ? 1 : 0, &handle);
    return Make(status, handle);
  }
  static Result<Model> OpenFd(int fd, int64_t offset_bytes, int64_t length_bytes) {
    tw_model* handle = nullptr;
    const tw_status status = tw_model_open_fd(fd, offset_bytes, length_bytes, &handle);
    return Make(status, handle);
  }

  // Takes over a handle that a C function gave.
  static Result<Model> Take(tw_status status, tw_model* handle) { return Make(status, handle); }

  Status Save(const std::string& path) const { return Status(tw_model_save(get(), path.c_str())); }
  // What it points to is borrowed from the model.
  Result<tw_model_info> Info() const {
    return internal::GetStruct<tw_model_info>(
        [&](tw_model_info* info) { return tw_model_get_info(get(), info); });
  }
  // The .tflite file, borrowed from the model.
  Bytes bytes() const {
    const Result<tw_model_info> info = Info();
    return info.ok() ? Bytes{info->data, info->data_bytes} : Bytes{};
  }
  std::vector<std::string> labels() const {
    const Result<tw_model_info> info = Info();
    if (!info.ok()) return {};
    return std::vector<std::string>(info->labels, info->labels + info->n_labels);
  }
  std::vector<std::string> signatures() const {
    const Result<tw_model_info> info = Info();
    if (!info.ok()) return {};
    return std::vector<std::string>(info->signatures, info->signatures + info->n_signatures);
  }
  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_model_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Result<Tensor> Output(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_model_get_output(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Result<size_t> FindOutput(const std::string& name) const {
    size_t index = 0;
    const tw_status status = tw_model_find_output(get(), name.c_str(), &index);
    if (status != TW_STATUS_OK) return Status(status);
    return index;
  }
  // The head before output `index`; its strings are borrowed from the model.
  Result<tw_head_info> Head(size_t index = 0) const {
    return internal::GetStruct<tw_head_info>(
        [&](tw_head_info* info) { return tw_model_get_head(get(), index, info); });
  }
  // With one more output: where in an image the scores of output `index` come from.
  Result<Model> WithActivationMap(size_t index = 0) const {
    tw_model* handle = nullptr;
    const tw_status status = tw_model_add_activation_map(get(), index, &handle);
    return Make(status, handle);
  }
  Result<std::string> Describe() const {
    return internal::GetString([&](char** text) { return tw_model_describe(get(), text); });
  }
  // Borrowed from the model.
  Result<Bytes> Metadata(const std::string& name) const {
    Bytes bytes;
    const tw_status status = tw_model_get_metadata(get(), name.c_str(), &bytes.data, &bytes.size);
    if (status != TW_STATUS_OK) return Status(status);
    return bytes;
  }
  // Borrowed from the model.
  Result<Bytes> File(const std::string& name) const {
    Bytes bytes;
    const tw_status status = tw_model_get_file(get(), name.c_str(), &bytes.data, &bytes.size);
    if (status != TW_STATUS_OK) return Status(status);
    return bytes;
  }
  tw_model* get() const { return handle_.get(); }

 private:
  explicit Model(tw_model* handle) : handle_(handle) {}
  static Result<Model> Make(tw_status status, tw_model* handle) {
    if (status != TW_STATUS_OK) return Status(status);
    return Model(handle);
  }
  std::unique_ptr<tw_model, internal::Deleter<tw_model, tw_model_free>> handle_;
};

// The first model with the heads of the others, which have its backbone, as further outputs.
inline Result<Model> MergeHeads(const std::vector<const Model*>& models) {
  std::vector<const tw_model*> handles;
  for (const Model* model : models) handles.push_back(model->get());
  tw_model* handle = nullptr;
  const tw_status status = tw_model_merge_heads(handles.data(), handles.size(), &handle);
  return Model::Take(status, handle);
}

}  // namespace tw

#endif  // TOPWORK_MODEL_HPP_
