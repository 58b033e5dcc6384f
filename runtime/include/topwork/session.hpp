// tw::Session over session.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_SESSION_HPP_
#define TOPWORK_SESSION_HPP_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/model.hpp"
#include "topwork/session.h"

namespace tw {

struct SessionOptions : tw_session_options {
  SessionOptions() : tw_session_options{} { struct_size = sizeof(tw_session_options); }
};

// A tw_session: one thread at a time, except Cancel.
class Session {
 public:
  using ProfileFunction = std::function<void(const tw_profile_entry&)>;

  static Result<Session> Create(const Model& model,
                                const SessionOptions& options = SessionOptions()) {
    tw_session* handle = nullptr;
    const tw_status status = tw_session_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Session(handle);
  }

  // Inputs, outputs and memory.
  Result<tw_session_info> Info() const {
    return internal::GetStruct<tw_session_info>(
        [&](tw_session_info* info) { return tw_session_get_info(get(), info); });
  }
  size_t n_inputs() const {
    const Result<tw_session_info> info = Info();
    return info.ok() ? info->n_inputs : 0;
  }
  size_t n_outputs() const {
    const Result<tw_session_info> info = Info();
    return info.ok() ? info->n_outputs : 0;
  }
  Result<size_t> FindInput(const std::string& name) const {
    size_t index = 0;
    const tw_status status = tw_session_find_input(get(), name.c_str(), &index);
    if (status != TW_STATUS_OK) return Status(status);
    return index;
  }
  Result<size_t> FindOutput(const std::string& name) const {
    size_t index = 0;
    const tw_status status = tw_session_find_output(get(), name.c_str(), &index);
    if (status != TW_STATUS_OK) return Status(status);
    return index;
  }
  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_session_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Result<Tensor> Output(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_session_get_output(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }

  // See tw_session_get_rejection.
  Result<tw_rejection> Rejection(size_t row = 0) {
    return internal::GetStruct<tw_rejection>(
        [&](tw_rejection* rejection) { return tw_session_get_rejection(get(), row, rejection); });
  }

  // See tw_session_attach_head; Info().heads lists them.
  Status AttachHead(const std::string& name, const std::string& path) {
    tw_head_file file = {};
    file.struct_size = sizeof(file);
    file.name = name.c_str();
    file.path = path.c_str();
    return Status(tw_session_attach_head(get(), &file));
  }
  Status DetachHead(const std::string& name) {
    return Status(tw_session_detach_head(get(), name.c_str()));
  }

  Status WriteInput(size_t index, const void* data, size_t data_bytes) {
    return Status(tw_session_write_input(get(), index, data, data_bytes));
  }
  // T must be the input's type. Bytes (int8_t, uint8_t) and halves (uint16_t) are taken as they lie.
  template <typename T>
  Status WriteInput(size_t index, const std::vector<T>& values) {
    const Result<Tensor> tensor = Input(index);
    if (!tensor.ok()) return tensor.status();
    if (!internal::CanHold<T>(tensor->dtype)) return internal::WrongType(*tensor, DTypeOf<T>());
    return WriteInput(index, values.data(), values.size() * sizeof(T));
  }
  // The output's values; T must be its type, as in Tensor::as.
  template <typename T>
  Result<std::vector<T>> ReadOutput(size_t index) const {
    Result<Tensor> tensor = Output(index);
    if (!tensor.ok()) return tensor.status();
    if (tensor->dtype != DTypeOf<T>()) return internal::WrongType(*tensor, DTypeOf<T>());
    std::vector<T> values(tensor->size<T>());
    const Status status(
        tw_session_read_output(get(), index, values.data(), values.size() * sizeof(T)));
    if (!status.ok()) return status;
    return values;
  }
  // See tw_session_write_strings.
  Status WriteStrings(size_t index, const std::vector<std::string>& strings) {
    std::vector<tw_string> views;
    for (const std::string& string : strings) views.push_back({string.data(), string.size()});
    return Status(tw_session_write_strings(get(), index, views.data(), views.size()));
  }
  // The elements of an output of strings; none before a run.
  Result<std::vector<std::string>> ReadStrings(size_t index) const {
    const Result<Tensor> tensor = Output(index);
    if (!tensor.ok()) return tensor.status();
    return tensor->strings();
  }
  Status BindInput(size_t index, void* data, size_t data_bytes) {
    return Status(tw_session_bind_input(get(), index, data, data_bytes));
  }
  Status BindOutput(size_t index, void* data, size_t data_bytes) {
    return Status(tw_session_bind_output(get(), index, data, data_bytes));
  }
  Status ResizeInput(size_t index, const std::vector<int32_t>& dims) {
    return Status(tw_session_resize_input(get(), index, dims.data(), dims.size()));
  }

  Status Prepare() { return Status(tw_session_prepare(get())); }
  Status Run() { return Status(tw_session_run(get())); }
  Status ResetState() { return Status(tw_session_reset_state(get())); }
  Status Cancel() { return Status(tw_session_cancel(get())); }

  // The result of RunAsync, on the session's own thread; it may use the session. A function that
  // throws ends the program.
  using RunFunction = std::function<void(Status)>;
  Status RunAsync(RunFunction function = nullptr) {
    if (!function) return Status(tw_session_run_async(get(), nullptr, nullptr));
    auto kept = std::make_unique<RunFunction>(std::move(function));
    const Status status(tw_session_run_async(get(), &OnRun, kept.get()));
    if (status.ok()) (void)kept.release();
    return status;
  }
  Status Wait() { return Status(tw_session_wait(get())); }
  bool is_running() const {
    int32_t running = 0;
    return tw_session_is_running(get(), &running) == TW_STATUS_OK && running != 0;
  }
  // Shares weights and plan; the bindings and the profile function are not taken over.
  Result<Session> Clone() const {
    tw_session* handle = nullptr;
    const tw_status status = tw_session_clone(get(), &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Session(handle);
  }

  // An empty function: off. A function that throws ends the program.
  Status SetProfile(ProfileFunction function) {
    profile_ = function ? std::make_unique<ProfileFunction>(std::move(function)) : nullptr;
    return Status(tw_session_set_profile(get(), profile_ ? &OnProfile : nullptr, profile_.get()));
  }

  Result<std::string> DescribePlan(tw_plan_format format = TW_PLAN_TEXT) const {
    return internal::GetString(
        [&](char** text) { return tw_session_describe_plan(get(), format, text); });
  }
  // Compares every operator with the CPU; JSON as tw_session_verify describes it.
  Result<std::string> Verify(double tolerance = 0.0) {
    return internal::GetString(
        [&](char** text) { return tw_session_verify(get(), tolerance, text); });
  }
  tw_session* get() const { return handle_.get(); }

 private:
  explicit Session(tw_session* handle) : handle_(handle) {}
  static void OnRun(void* user_data, tw_session*, tw_status status) noexcept {
    const std::unique_ptr<RunFunction> function(static_cast<RunFunction*>(user_data));
    (*function)(Status(status));
  }
  static void OnProfile(void* user_data, const tw_profile_entry* entry) noexcept {
    (*static_cast<ProfileFunction*>(user_data))(*entry);
  }
  std::unique_ptr<ProfileFunction> profile_;
  std::unique_ptr<tw_session, internal::Deleter<tw_session, tw_session_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_SESSION_HPP_
