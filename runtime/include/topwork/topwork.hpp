// Topwork in C++17: owning classes over the C API of topwork.h, header-only, in namespace tw.
//
// It compiles with and without -fno-exceptions and throws nothing itself: what may fail returns a
// tw::Status, or a tw::Result<T> that holds either a value or a Status. Objects are movable and
// free their handle when they go. Ownership, units, thread rules and errors are those of the
// functions of topwork.h that each method names or is named after. Logging and custom operators are
// used through topwork.h directly.
#ifndef TOPWORK_TOPWORK_HPP_
#define TOPWORK_TOPWORK_HPP_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "topwork/topwork.h"

namespace tw {

// Success, or a code with a sentence about what was wrong.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Takes over the result of a C function, with tw_last_error() of this thread.
  explicit Status(tw_status code)
      : code_(code), message_(code == TW_STATUS_OK ? "" : tw_last_error()) {}

  bool ok() const { return code_ == TW_STATUS_OK; }
  explicit operator bool() const { return ok(); }
  tw_status code() const { return code_; }
  const std::string& message() const { return message_; }
  // "IO: message"; "OK" for success.
  std::string ToString() const {
    return ok() ? "OK" : std::string(tw_status_name(code_)) + ": " + message_;
  }

 private:
  tw_status code_ = TW_STATUS_OK;
  std::string message_;
};

// A value, or the Status that says why there is none. *, -> and value() only when ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

// Bytes that belong to somebody else.
struct Bytes {
  const void* data = nullptr;
  size_t size = 0;
};

// The tw_dtype of a C++ type: DTypeOf<float>() == TW_DTYPE_FLOAT32.
template <typename T>
constexpr tw_dtype DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return TW_DTYPE_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return TW_DTYPE_FLOAT64;
  if constexpr (std::is_same_v<T, int8_t>) return TW_DTYPE_INT8;
  if constexpr (std::is_same_v<T, uint8_t>) return TW_DTYPE_UINT8;
  if constexpr (std::is_same_v<T, int16_t>) return TW_DTYPE_INT16;
  if constexpr (std::is_same_v<T, uint16_t>) return TW_DTYPE_UINT16;
  if constexpr (std::is_same_v<T, int32_t>) return TW_DTYPE_INT32;
  if constexpr (std::is_same_v<T, uint32_t>) return TW_DTYPE_UINT32;
  if constexpr (std::is_same_v<T, int64_t>) return TW_DTYPE_INT64;
  if constexpr (std::is_same_v<T, uint64_t>) return TW_DTYPE_UINT64;
  if constexpr (std::is_same_v<T, bool>) return TW_DTYPE_BOOL;
  return TW_DTYPE_VARIANT;
}

// A tensor as tw_session_get_input tells it; its memory belongs to the session.
struct Tensor : tw_tensor_info {
  Tensor() : tw_tensor_info{} { struct_size = sizeof(tw_tensor_info); }
  std::vector<int32_t> shape() const { return std::vector<int32_t>(dims, dims + rank); }
  // The elements; null when the tensor holds another type.
  template <typename T>
  T* as() const {
    return dtype == DTypeOf<T>() ? static_cast<T*>(data) : nullptr;
  }
  // Number of elements of type T.
  template <typename T>
  size_t size() const {
    return bytes / sizeof(T);
  }
  // Copies of the elements of a string tensor; none where it has no data.
  std::vector<std::string> strings() const {
    std::vector<std::string> copies;
    if (dtype != TW_DTYPE_STRING || data == nullptr) return copies;
    const tw_string* const first = static_cast<const tw_string*>(data);
    for (size_t i = 0; i < bytes / sizeof(tw_string); ++i) {
      copies.emplace_back(first[i].bytes == 0 ? "" : first[i].data, first[i].bytes);
    }
    return copies;
  }
};

namespace internal {

// Borrowed from the texts.
inline std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

inline std::string TakeString(char* text) {
  std::string copy = text;
  tw_memory_free(text);
  return copy;
}

// Calls function(&text) and takes over the owned string.
template <typename F>
Result<std::string> GetString(F function) {
  char* text = nullptr;
  const tw_status status = function(&text);
  if (status != TW_STATUS_OK) return Status(status);
  return TakeString(text);
}

// Calls function(&info) with a struct that knows its size.
template <typename T, typename F>
Result<T> GetStruct(F function) {
  T info{};
  info.struct_size = sizeof(info);
  const tw_status status = function(&info);
  if (status != TW_STATUS_OK) return Status(status);
  return info;
}

template <typename T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* handle) const { Free(handle); }
};

}  // namespace internal

// The devices of this machine, the CPU first; strings are static.
inline Result<std::vector<tw_device_info>> Devices() {
  std::vector<tw_device_info> devices;
  for (;;) {
    tw_device_info info{};
    info.struct_size = sizeof(info);
    const tw_status status = tw_device_get_info(devices.size(), &info);
    if (status == TW_STATUS_NOT_FOUND) return devices;
    if (status != TW_STATUS_OK) return Status(status);
    devices.push_back(info);
  }
}

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

  Status WriteInput(size_t index, const void* data, size_t data_bytes) {
    return Status(tw_session_write_input(get(), index, data, data_bytes));
  }
  template <typename T>
  Status WriteInput(size_t index, const std::vector<T>& values) {
    return WriteInput(index, values.data(), values.size() * sizeof(T));
  }
  // The output's values; T must be its type, as in Tensor::as.
  template <typename T>
  Result<std::vector<T>> ReadOutput(size_t index) const {
    Result<Tensor> tensor = Output(index);
    if (!tensor.ok()) return tensor.status();
    std::vector<T> values(tensor->dtype == DTypeOf<T>() ? tensor->size<T>() : 0);
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

struct TrainerOptions : tw_trainer_options {
  TrainerOptions() : tw_trainer_options{} {
    (void)tw_trainer_options_init(this, sizeof(tw_trainer_options));
  }
};

// A tw_evaluation with arrays of its own: its pointers are null.
struct Evaluation : tw_evaluation {
  Evaluation() : tw_evaluation{} { struct_size = sizeof(tw_evaluation); }
  std::vector<tw_class_metrics> per_class;       // `classes`
  std::vector<int64_t> matrix;                   // `confusion`: n_classes x n_classes, row = label
  std::vector<int64_t> largest;                  // `n_largest`
  std::vector<tw_reliability_bin> bins;          // `reliability`
  std::vector<tw_worst_example> worst_examples;  // `worst`
  std::vector<tw_group_metrics> per_group;       // `groups`
};

namespace internal {

template <typename T>
std::vector<T> TakeArray(const T** from, size_t n) {
  std::vector<T> copy;
  if (*from != nullptr) copy.assign(*from, *from + n);
  *from = nullptr;
  return copy;
}

// Calls function(&evaluation) and copies what it borrows.
template <typename F>
Result<Evaluation> GetEvaluation(F function) {
  Evaluation e;
  const tw_status status = function(&e);
  if (status != TW_STATUS_OK) return Status(status);
  const size_t n = static_cast<size_t>(e.n_classes);
  e.per_class = TakeArray(&e.classes, n);
  e.matrix = TakeArray(&e.confusion, n * n);
  e.largest = TakeArray(&e.n_largest, e.n_scores);
  e.bins = TakeArray(&e.reliability, e.n_bins);
  e.worst_examples = TakeArray(&e.worst, e.n_worst);
  e.per_group = TakeArray(&e.groups, e.n_groups);
  return e;
}

}  // namespace internal

struct JudgeOptions : tw_judge_options {
  JudgeOptions() : tw_judge_options{} { struct_size = sizeof(tw_judge_options); }
};

// A tw_judge: one thread at a time.
class Judge {
 public:
  static Result<Judge> Create(const JudgeOptions& options) {
    tw_judge* handle = nullptr;
    const tw_status status = tw_judge_create(&options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Judge(handle);
  }
  // group below 0: none.
  Status Add(const std::vector<float>& scores, int64_t label, int32_t group = -1) {
    return Status(tw_judge_add(get(), scores.data(), scores.size(), label, nullptr, group));
  }
  // targets: n_classes numbers.
  Status AddTargets(const std::vector<float>& scores, const float* targets, int32_t group = -1) {
    return Status(tw_judge_add(get(), scores.data(), scores.size(), 0, targets, group));
  }
  Result<Evaluation> Read() const {
    return internal::GetEvaluation([&](tw_evaluation* e) { return tw_judge_read(get(), e); });
  }
  tw_judge* get() const { return handle_.get(); }

 private:
  explicit Judge(tw_judge* handle) : handle_(handle) {}
  std::unique_ptr<tw_judge, internal::Deleter<tw_judge, tw_judge_free>> handle_;
};

struct AuditOptions : tw_audit_options {
  AuditOptions() : tw_audit_options{} { struct_size = sizeof(tw_audit_options); }
};

// An audit with an array of its own: its pointers are null.
struct Audit : tw_audit {
  std::vector<tw_audited_example> all;           // `examples`: the smallest margin first
  std::optional<tw_near_duplicates> duplicates;  // `near_duplicates`
};

// Labelled examples for Trainer and Learner. Labels and data are borrowed for the call.
class Examples : public tw_examples {
 public:
  // Reads example `index` into inputs[k] and returns its class, or a negative number to give up.
  using Reader = std::function<int64_t(int64_t index, void* const* inputs, size_t n_inputs)>;

  // Borrows both: they must live as long as the examples are in use.
  template <typename T>
  Examples(const std::vector<T>& values, const std::vector<int64_t>& classes) : tw_examples{} {
    struct_size = sizeof(tw_examples);
    n_examples = static_cast<int64_t>(classes.size());
    data = values.data();
    data_bytes = values.size() * sizeof(T);
    dtype = DTypeOf<T>();
    labels = classes.data();
  }
  Examples(int64_t n, Reader reader) : tw_examples{}, reader_(std::move(reader)) {
    struct_size = sizeof(tw_examples);
    n_examples = n;
    read = &OnRead;
    user_data = &reader_;
  }
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;

  // A text for each, see tw_examples.ids.
  Examples& SetIds(std::vector<std::string> texts) {
    texts_ = std::move(texts);
    pointers_ = internal::Pointers(texts_);
    ids = pointers_.data();
    return *this;
  }

 private:
  static tw_status OnRead(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                          int64_t* out_label) noexcept {
    *out_label = (*static_cast<Reader*>(user_data))(index, inputs, n_inputs);
    return *out_label < 0 ? TW_STATUS_CANCELLED : TW_STATUS_OK;
  }
  Reader reader_;
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

// A tw_trainer: one thread at a time, except Cancel.
class Trainer {
 public:
  // Returns true to go on.
  using ProgressFunction = std::function<bool(const tw_trainer_progress&)>;

  static Result<Trainer> Create(const Model& model,
                                const TrainerOptions& options = TrainerOptions()) {
    tw_trainer* handle = nullptr;
    const tw_status status = tw_trainer_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Trainer(handle);
  }

  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_trainer_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Status AddExamples(const tw_examples& examples) {
    return Status(tw_trainer_add_examples(get(), &examples));
  }
  // Up to n_epochs in all; 0: those of the options. A function that throws ends the program.
  Status Fit(int32_t n_epochs = 0, const ProgressFunction& progress = nullptr) {
    tw_fit_options options{};
    options.n_epochs = n_epochs;
    return Run(options, progress).status();
  }
  // For a bounded time; true: nothing is left to do.
  Result<bool> FitFor(double max_seconds, int32_t max_epochs = 0,
                      const ProgressFunction& progress = nullptr) {
    tw_fit_options options{};
    options.max_seconds = max_seconds;
    options.max_epochs = max_epochs;
    return Run(options, progress);
  }
  Status Cancel() { return Status(tw_trainer_cancel(get())); }
  // On the validation set, of which the n_worst ones with the largest loss are named.
  Result<Evaluation> Evaluate(int32_t n_worst = 0) {
    return internal::GetEvaluation(
        [&](tw_evaluation* e) { return tw_trainer_evaluate(get(), nullptr, n_worst, e); });
  }
  Result<Evaluation> Evaluate(const tw_examples& examples) {
    return internal::GetEvaluation(
        [&](tw_evaluation* e) { return tw_trainer_evaluate(get(), &examples, 0, e); });
  }
  // n_examples x n_classes scores.
  Result<std::vector<float>> Predict(const tw_examples& examples) {
    const Result<tw_trainer_info> info = Info();
    if (!info.ok()) return info.status();
    std::vector<float> scores(static_cast<size_t>(examples.n_examples * info->n_classes));
    const tw_status status = tw_trainer_predict(get(), &examples, scores.data(), scores.size());
    if (status != TW_STATUS_OK) return Status(status);
    return scores;
  }
  // On the validation set; see tw_trainer_predict_intervals.
  Result<tw_interval_check> CheckIntervals(double coverage) {
    return internal::GetStruct<tw_interval_check>([&](tw_interval_check* check) {
      return tw_trainer_predict_intervals(get(), nullptr, coverage, nullptr, nullptr, 0, check);
    });
  }
  Result<tw_calibration> Calibrate() {
    return internal::GetStruct<tw_calibration>(
        [&](tw_calibration* calibration) { return tw_trainer_calibrate(get(), calibration); });
  }
  Status SetGolden(const tw_examples& examples) {
    return Status(tw_trainer_set_golden(get(), &examples));
  }
  Result<tw_export_check> CheckExport() {
    return internal::GetStruct<tw_export_check>(
        [&](tw_export_check* check) { return tw_trainer_check_export(get(), check); });
  }
  Result<Audit> AuditExamples(const AuditOptions& options = AuditOptions()) {
    Result<tw_audit> read = internal::GetStruct<tw_audit>(
        [&](tw_audit* audit) { return tw_trainer_audit(get(), &options, audit); });
    if (!read.ok()) return read.status();
    Audit audit;
    static_cast<tw_audit&>(audit) = *read;
    audit.all = internal::TakeArray(&audit.examples, audit.n_examples);
    if (audit.near_duplicates != nullptr) audit.duplicates = *audit.near_duplicates;
    audit.near_duplicates = nullptr;
    return audit;
  }
  // The examples that are worth a label most; at most as many as there are.
  Result<std::vector<tw_suggestion>> Suggest(const tw_examples& examples, int64_t count) {
    const int64_t n = count < examples.n_examples ? count : examples.n_examples;
    std::vector<tw_suggestion> chosen(static_cast<size_t>(n > 0 ? n : 0));
    const tw_status status = tw_trainer_suggest(get(), &examples, chosen.data(), chosen.size());
    if (status != TW_STATUS_OK) return Status(status);
    return chosen;
  }
  // Names that exist already keep what they have learnt.
  Status SetClasses(const std::vector<std::string>& names) { return SetClasses(names, {}); }
  // Class c becomes the new class becomes[c]; -1: none.
  Status SetClasses(const std::vector<std::string>& names, const std::vector<int64_t>& becomes) {
    return Status(tw_trainer_set_classes(get(), internal::Pointers(names).data(),
                                         becomes.empty() ? nullptr : becomes.data(), names.size()));
  }
  // Empty where the classes have no names.
  std::vector<std::string> class_names() const {
    const Result<tw_trainer_info> info = Info();
    if (!info.ok() || info->class_names == nullptr) return {};
    return std::vector<std::string>(info->class_names, info->class_names + info->n_classes);
  }

  // All that is trained, one array after the other (Info()->parameters names them).
  Result<std::vector<float>> ReadParameters() const {
    const Result<tw_trainer_info> info = Info();
    if (!info.ok()) return info.status();
    std::vector<float> values(static_cast<size_t>(info->n_values));
    const tw_status status =
        tw_trainer_read_parameter(get(), nullptr, values.data(), values.size());
    if (status != TW_STATUS_OK) return Status(status);
    return values;
  }
  Status WriteParameters(const std::vector<float>& values) {
    return Status(tw_trainer_write_parameter(get(), nullptr, values.data(), values.size()));
  }
  Result<std::vector<float>> ComputeUpdate(const std::vector<float>& base, double clip_norm,
                                           double noise_stddev, uint64_t seed) const {
    std::vector<float> update(base.size());
    const tw_status status = tw_trainer_compute_update(get(), base.data(), base.size(), clip_norm,
                                                       noise_stddev, seed, update.data());
    if (status != TW_STATUS_OK) return Status(status);
    return update;
  }
  Status HoldFile(const std::string& path) {
    return Status(tw_trainer_hold_file(get(), path.c_str()));
  }
  Status SaveHead(const std::string& path) const {
    return Status(tw_trainer_save_head(get(), path.c_str()));
  }

  Result<Model> Export() {
    tw_model* handle = nullptr;
    const tw_status status = tw_trainer_export(get(), &handle);
    return Model::Take(status, handle);
  }
  Status SaveCheckpoint(const std::string& path, bool with_examples = false) {
    return Status(tw_trainer_save_checkpoint(get(), path.c_str(), with_examples ? 1 : 0));
  }
  // A head or a checkpoint.
  Status Load(const std::string& path) { return Status(tw_trainer_load(get(), path.c_str())); }
  // What it points to is borrowed from the trainer.
  Result<tw_trainer_info> Info() const {
    return internal::GetStruct<tw_trainer_info>(
        [&](tw_trainer_info* info) { return tw_trainer_get_info(get(), info); });
  }
  tw_trainer* get() const { return handle_.get(); }

 private:
  explicit Trainer(tw_trainer* handle) : handle_(handle) {}
  static int32_t OnProgress(void* user_data, const tw_trainer_progress* progress) noexcept {
    return (*static_cast<ProgressFunction*>(user_data))(*progress) ? 0 : 1;
  }
  Result<bool> Run(tw_fit_options options, ProgressFunction progress) {
    options.struct_size = sizeof(options);
    options.progress = progress ? &OnProgress : nullptr;
    options.user_data = &progress;
    int32_t finished = 0;
    const tw_status status = tw_trainer_fit(get(), &options, &finished);
    if (status != TW_STATUS_OK) return Status(status);
    return finished != 0;
  }
  std::unique_ptr<tw_trainer, internal::Deleter<tw_trainer, tw_trainer_free>> handle_;
};

// Some of a learner's examples. See tw_selection.
struct Selection {
  std::vector<std::string> ids;
  std::vector<int32_t> groups;
  const tw_examples* examples = nullptr;
};

struct LearnerOptions : tw_learner_options {
  LearnerOptions() : tw_learner_options{} { struct_size = sizeof(tw_learner_options); }
};

// A tw_learner: one thread at a time.
class Learner {
 public:
  static Result<Learner> Create(const Model& model,
                                const LearnerOptions& options = LearnerOptions()) {
    tw_learner* handle = nullptr;
    const tw_status status = tw_learner_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Learner(handle);
  }

  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_learner_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Status Save(const std::string& path, bool statistics_only = false) {
    return Status(tw_learner_save(get(), path.c_str(), statistics_only ? 1 : 0));
  }

  // Names that exist already keep their examples.
  Status SetClasses(const std::vector<std::string>& names) { return SetClasses(names, {}); }
  // Class c becomes the new class becomes[c]; -1: none.
  Status SetClasses(const std::vector<std::string>& names, const std::vector<int64_t>& becomes) {
    return Status(tw_learner_set_classes(get(), internal::Pointers(names).data(),
                                         becomes.empty() ? nullptr : becomes.data(), names.size()));
  }
  // The index of the class of that name, which is added where it is new.
  Result<int64_t> AddClass(const std::string& name) {
    std::vector<std::string> names = class_names();
    for (size_t c = 0; c < names.size(); ++c) {
      if (names[c] == name) return static_cast<int64_t>(c);
    }
    names.push_back(name);
    const Status status = SetClasses(names);
    if (!status.ok()) return status;
    return static_cast<int64_t>(names.size() - 1);
  }
  // Each needs an id (Examples::SetIds), but not with statistics_only.
  Status Add(const tw_examples& examples) { return Status(tw_learner_add(get(), &examples)); }
  Status Remove(const Selection& selection) {
    return With(selection, [&](const tw_selection* s) { return tw_learner_remove(get(), s); });
  }
  Status Relabel(const Selection& selection, int64_t label) {
    return With(selection,
                [&](const tw_selection* s) { return tw_learner_relabel(get(), s, label); });
  }
  // How many examples were here already.
  Result<int64_t> Merge(const std::string& path) {
    int64_t n_same = 0;
    const tw_status status = tw_learner_merge(get(), path.c_str(), &n_same);
    if (status != TW_STATUS_OK) return Status(status);
    return n_same;
  }
  // n_examples x n_classes probabilities.
  Result<std::vector<float>> Predict(const tw_examples& examples) {
    const Result<tw_learner_info> info = Info();
    if (!info.ok()) return info.status();
    std::vector<float> scores(static_cast<size_t>(examples.n_examples * info->n_classes));
    const tw_status status = tw_learner_predict(get(), &examples, scores.data(), scores.size());
    if (status != TW_STATUS_OK) return Status(status);
    return scores;
  }
  Status Cancel() { return Status(tw_learner_cancel(get())); }
  Result<Model> Export() {
    tw_model* handle = nullptr;
    const tw_status status = tw_learner_export(get(), &handle);
    return Model::Take(status, handle);
  }
  // What it points to is borrowed from the learner.
  Result<tw_learner_info> Info() const {
    return internal::GetStruct<tw_learner_info>(
        [&](tw_learner_info* info) { return tw_learner_get_info(get(), info); });
  }
  std::vector<std::string> class_names() const {
    const Result<tw_learner_info> info = Info();
    if (!info.ok()) return {};
    return std::vector<std::string>(info->class_names, info->class_names + info->n_classes);
  }
  tw_learner* get() const { return handle_.get(); }

 private:
  explicit Learner(tw_learner* handle) : handle_(handle) {}
  template <typename F>
  static Status With(const Selection& from, F function) {
    const std::vector<const char*> ids = internal::Pointers(from.ids);
    const tw_selection selection = {sizeof(selection),  ids.data(),         ids.size(),
                                    from.groups.data(), from.groups.size(), from.examples};
    return Status(function(&selection));
  }
  std::unique_ptr<tw_learner, internal::Deleter<tw_learner, tw_learner_free>> handle_;
};

struct PruneOptions : tw_prune_options {
  PruneOptions() : tw_prune_options{} { struct_size = sizeof(tw_prune_options); }
};

// The model with its smallest weights set to 0; `report` may be null.
inline Result<Model> Prune(const Model& model, const PruneOptions& options = PruneOptions(),
                           tw_prune_report* report = nullptr) {
  if (report != nullptr) report->struct_size = sizeof(*report);
  tw_model* handle = nullptr;
  const tw_status status = tw_model_prune(model.get(), &options, &handle, report);
  return Model::Take(status, handle);
}

// The first model with the heads of the others, which have its backbone, as further outputs.
inline Result<Model> MergeHeads(const std::vector<const Model*>& models) {
  std::vector<const tw_model*> handles;
  for (const Model* model : models) handles.push_back(model->get());
  tw_model* handle = nullptr;
  const tw_status status = tw_model_merge_heads(handles.data(), handles.size(), &handle);
  return Model::Take(status, handle);
}

struct QuantizerOptions : tw_quantizer_options {
  QuantizerOptions() : tw_quantizer_options{} { struct_size = sizeof(tw_quantizer_options); }
};

struct MonitorOptions : tw_monitor_options {
  MonitorOptions() : tw_monitor_options{} { struct_size = sizeof(tw_monitor_options); }
};

// A tw_monitor: one thread at a time.
class Monitor {
 public:
  // options: with one of features, trainer and path.
  static Result<Monitor> Create(const MonitorOptions& options) {
    tw_monitor* handle = nullptr;
    const tw_status status = tw_monitor_create(&options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Monitor(handle);
  }
  // The features of the trainer's examples are the reference.
  static Result<Monitor> Create(const Trainer& trainer, MonitorOptions options = MonitorOptions()) {
    options.trainer = trainer.get();
    return Create(options);
  }
  static Result<Monitor> Open(const std::string& path) {
    MonitorOptions options;
    options.path = path.c_str();
    return Create(options);
  }
  Status Save(const std::string& path) const {
    return Status(tw_monitor_save(get(), path.c_str()));
  }
  // An example; either may be empty.
  Status Add(const std::vector<float>& features, const std::vector<float>& scores) {
    tw_observation seen = Nothing();
    seen.features = features.empty() ? nullptr : features.data();
    seen.n_features = features.size();
    seen.scores = scores.empty() ? nullptr : scores.data();
    seen.n_scores = scores.size();
    return Status(tw_monitor_add(get(), &seen));
  }
  // What the session's last run computed.
  Status Add(const Session& session) {
    tw_observation seen = Nothing();
    seen.session = session.get();
    return Status(tw_monitor_add(get(), &seen));
  }
  Status Add(const Trainer& trainer, const tw_examples& examples) {
    tw_observation seen = Nothing();
    seen.trainer = trainer.get();
    seen.examples = &examples;
    return Status(tw_monitor_add(get(), &seen));
  }
  // Its arrays are borrowed until the next report.
  Result<tw_monitor_report> Report() const {
    return internal::GetStruct<tw_monitor_report>(
        [&](tw_monitor_report* report) { return tw_monitor_get_report(get(), report); });
  }
  tw_monitor* get() const { return handle_.get(); }

 private:
  explicit Monitor(tw_monitor* handle) : handle_(handle) {}
  static tw_observation Nothing() {
    tw_observation seen{};
    seen.struct_size = sizeof(seen);
    return seen;
  }
  std::unique_ptr<tw_monitor, internal::Deleter<tw_monitor, tw_monitor_free>> handle_;
};

// A tw_quantizer: one thread at a time, except Cancel.
class Quantizer {
 public:
  static Result<Quantizer> Create(const Model& model,
                                  const QuantizerOptions& options = QuantizerOptions()) {
    tw_quantizer* handle = nullptr;
    const tw_status status = tw_quantizer_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Quantizer(handle);
  }

  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_quantizer_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Status AddExamples(const tw_examples& examples) {
    return Status(tw_quantizer_add_examples(get(), &examples));
  }
  Status Cancel() { return Status(tw_quantizer_cancel(get())); }
  // `report` may be null; what it points to is borrowed from the quantizer.
  Result<Model> Export(tw_quantize_report* report = nullptr) {
    if (report != nullptr) report->struct_size = sizeof(*report);
    tw_model* handle = nullptr;
    const tw_status status = tw_quantizer_export(get(), &handle, report);
    return Model::Take(status, handle);
  }
  tw_quantizer* get() const { return handle_.get(); }

 private:
  explicit Quantizer(tw_quantizer* handle) : handle_(handle) {}
  std::unique_ptr<tw_quantizer, internal::Deleter<tw_quantizer, tw_quantizer_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_TOPWORK_HPP_
