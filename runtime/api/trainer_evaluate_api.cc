// C API: judging a trainer's last layer: evaluation, prediction, calibration, the golden set.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::Evaluation;
using topwork::ExampleSet;
using topwork::InvalidArgument;
using topwork::Result;
using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

namespace {

Result<Evaluation> Evaluate(Trainer* trainer, const tw_examples* c_examples) {
  if (c_examples == nullptr) return trainer->judge().Evaluate(ExampleSet::kValidation);
  topwork::Examples examples;
  topwork::FeatureProgress progress;
  TW_RETURN_IF_ERROR(
      topwork::api::ConvertExamples(*trainer, c_examples, true, &examples, &progress));
  return trainer->judge().Evaluate(examples, progress);
}

// Examples without targets, and room for a number of each output.
Status ConvertUnlabelled(const tw_trainer& trainer, const tw_examples* examples, const char* name,
                         size_t n_values, topwork::Examples* out) {
  topwork::FeatureProgress progress;
  TW_RETURN_IF_ERROR(
      topwork::api::ConvertExamples(*trainer.trainer, examples, false, out, &progress));
  const size_t n_classes = static_cast<size_t>(trainer.trainer->n_classes());
  size_t needed = 0;
  if (topwork::MulOverflow(out->count, n_classes, &needed) || n_values != needed) {
    return InvalidArgument("{} is {}, but {} examples have {} scores each", name, n_values,
                           out->count, n_classes);
  }
  return Status::Ok();
}

}  // namespace

tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples, int32_t n_worst,
                              tw_evaluation* evaluation) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(evaluation);
  TW_REPORT_IF_ERROR(topwork::api::CheckStructSize("tw_evaluation", evaluation->struct_size));
  if (n_worst < 0) return Report(InvalidArgument("n_worst is {}", n_worst));
  const Result<Evaluation> result = Evaluate(trainer->trainer.get(), examples);
  if (!result.ok()) return Report(result.status());
  std::vector<topwork::WorstExample> worst;
  if (examples == nullptr && n_worst > 0) {
    auto found = trainer->trainer->judge().Worst(ExampleSet::kValidation, n_worst);
    if (!found.ok()) return Report(found.status());
    worst = std::move(found.value());
  }
  return trainer->evaluation.Give(*result, false, worst, evaluation);
}

tw_status tw_trainer_find_near_duplicates(tw_trainer* trainer, tw_near_duplicates* result) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(result);
  const auto found = trainer->trainer->judge().FindNearDuplicates();
  if (!found.ok()) return Report(found.status());
  tw_near_duplicates out = {};
  out.n_checked = found->n_checked;
  out.n_found = found->n_found;
  out.held_back = found->held_back;
  out.trained = found->trained;
  out.cosine = found->cosine;
  return Report(topwork::api::WriteStruct("tw_near_duplicates", out, result));
}

tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                             size_t n_scores) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(scores);
  topwork::Examples converted;
  TW_REPORT_IF_ERROR(ConvertUnlabelled(*trainer, examples, "n_scores", n_scores, &converted));
  return Report(trainer->trainer->judge().Predict(converted, scores));
}

tw_status tw_trainer_predict_intervals(tw_trainer* trainer, const tw_examples* examples,
                                       double coverage, float* lower, float* upper,
                                       size_t n_values) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(lower);
  TW_REQUIRE(upper);
  topwork::Examples converted;
  TW_REPORT_IF_ERROR(ConvertUnlabelled(*trainer, examples, "n_values", n_values, &converted));
  return Report(trainer->trainer->judge().PredictIntervals(converted, coverage, lower, upper));
}

tw_status tw_trainer_check_intervals(tw_trainer* trainer, double coverage,
                                     tw_interval_check* check) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(check);
  const auto checked = trainer->trainer->judge().CheckIntervals(coverage);
  if (!checked.ok()) return Report(checked.status());
  tw_interval_check result = {};
  result.n_examples = checked->n_examples;
  result.coverage = checked->coverage;
  result.mean_width = checked->mean_width;
  return Report(topwork::api::WriteStruct("tw_interval_check", result, check));
}

tw_status tw_trainer_calibrate(tw_trainer* trainer, tw_calibration* calibration) {
  TW_REQUIRE(trainer);
  const auto fitted = trainer->trainer->judge().Calibrate();
  if (!fitted.ok()) return Report(fitted.status());
  if (calibration == nullptr) return TW_STATUS_OK;
  tw_calibration result = {};
  result.temperature = fitted->temperature;
  result.loss_before = fitted->loss_before;
  result.loss_after = fitted->loss_after;
  result.error_before = fitted->error_before;
  result.error_after = fitted->error_after;
  return Report(topwork::api::WriteStruct("tw_calibration", result, calibration));
}

tw_status tw_trainer_set_golden(tw_trainer* trainer, const tw_examples* examples) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*trainer->trainer, examples, true, &converted, &progress));
  return Report(trainer->trainer->judge().SetGolden(converted, progress));
}

tw_status tw_trainer_check_export(tw_trainer* trainer, tw_export_check* check) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(check);
  tw_export_check result = {};
  if (trainer->trainer->set().size() > 0) {
    const auto stored = trainer->trainer->judge().CheckExport(ExampleSet::kValidation);
    if (!stored.ok()) return Report(stored.status());
    result.n_examples = stored->n_examples;
    result.trained = stored->before;
    result.exported = stored->after;
  }
  if (trainer->trainer->judge().has_golden()) {
    const auto golden = trainer->trainer->judge().CheckGolden();
    if (!golden.ok()) return Report(golden.status());
    result.n_golden = golden->n_examples;
    result.golden_shipped = golden->shipped;
    result.golden_exported = golden->trained;
  }
  return Report(topwork::api::WriteStruct("tw_export_check", result, check));
}
