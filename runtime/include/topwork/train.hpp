// tw::Trainer over train.h and audit.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_TRAIN_HPP_
#define TOPWORK_TRAIN_HPP_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topwork/audit.h"
#include "topwork/base.hpp"
#include "topwork/evaluate.hpp"
#include "topwork/examples.hpp"
#include "topwork/model.hpp"
#include "topwork/train.h"

namespace tw {

struct TrainerOptions : tw_trainer_options {
  TrainerOptions() : tw_trainer_options{} {
    (void)tw_trainer_options_init(this, sizeof(tw_trainer_options));
  }
};

struct AuditOptions : tw_audit_options {
  AuditOptions() : tw_audit_options{} { struct_size = sizeof(tw_audit_options); }
};

// An audit with an array of its own: its pointers are null.
struct Audit : tw_audit {
  std::vector<tw_audited_example> all;           // `examples`: the least probable label first
  std::optional<tw_near_duplicates> duplicates;  // `near_duplicates`
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

}  // namespace tw

#endif  // TOPWORK_TRAIN_HPP_
