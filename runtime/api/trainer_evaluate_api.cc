// C API: judging a trainer's last layer: evaluation, prediction, calibration, the golden set.
#include <algorithm>

#include "runtime/api/evaluation_json.h"
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

Status FillEvaluation(Trainer* trainer, const tw_examples* c_examples, tw_evaluation* inout) {
  const size_t n_classes = static_cast<size_t>(trainer->n_classes());
  const size_t needed = n_classes * n_classes * sizeof(int64_t);
  if (inout->confusion != nullptr && inout->confusion_bytes < needed) {
    return InvalidArgument("tw_evaluation.confusion_bytes is %zu; %zu classes need %zu",
                           inout->confusion_bytes, n_classes, needed);
  }
  TW_ASSIGN_OR_RETURN(const Evaluation evaluation, Evaluate(trainer, c_examples));
  inout->n_examples = evaluation.n_examples;
  inout->loss = evaluation.loss;
  inout->top1 = evaluation.top1;
  inout->top5 = evaluation.top5;
  inout->accuracy = evaluation.accuracy;
  inout->macro_f1 = evaluation.macro_f1;
  inout->calibration_error = evaluation.calibration_error;
  inout->mean_average_precision = evaluation.mean_average_precision;
  inout->exact_match = evaluation.exact_match;
  inout->mean_absolute_error = evaluation.regression.mae;
  inout->root_mean_squared_error = evaluation.regression.rmse;
  inout->r2 = evaluation.regression.r2;
  if (inout->confusion == nullptr) return Status::Ok();
  std::memset(inout->confusion, 0, needed);
  if (!evaluation.confusion.empty()) {
    std::memcpy(inout->confusion, evaluation.confusion.data(), needed);
  }
  return Status::Ok();
}

}  // namespace

tw_status tw_trainer_evaluate(tw_trainer* trainer, const tw_examples* examples,
                              tw_evaluation* evaluation) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(evaluation);
  tw_evaluation result = {};
  TW_REPORT_IF_ERROR(topwork::api::CheckStructSize("tw_evaluation", evaluation->struct_size));
  std::memcpy(&result, evaluation, std::min(sizeof(result), evaluation->struct_size));
  TW_REPORT_IF_ERROR(FillEvaluation(trainer->trainer.get(), examples, &result));
  return Report(topwork::api::WriteStruct("tw_evaluation", result, evaluation));
}

tw_status tw_trainer_describe_evaluation(tw_trainer* trainer, const tw_examples* examples,
                                         int32_t n_worst, char** out_json) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(out_json);
  if (n_worst < 0) return Report(InvalidArgument("n_worst is %d", n_worst));
  const Result<Evaluation> evaluation = Evaluate(trainer->trainer.get(), examples);
  if (!evaluation.ok()) return Report(evaluation.status());
  std::vector<topwork::WorstExample> worst;
  if (examples == nullptr && n_worst > 0) {
    auto found = trainer->trainer->judge().Worst(ExampleSet::kValidation, n_worst);
    if (!found.ok()) return Report(found.status());
    worst = std::move(found.value());
  }
  return topwork::api::GiveString(
      topwork::api::EvaluationJson(*evaluation, trainer->trainer->options().class_names, worst),
      out_json);
}

tw_status tw_trainer_predict(tw_trainer* trainer, const tw_examples* examples, float* scores,
                             size_t n_scores) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(scores);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*trainer->trainer, examples, false, &converted, &progress));
  const size_t n_classes = static_cast<size_t>(trainer->trainer->n_classes());
  size_t needed = 0;
  if (topwork::MulOverflow(static_cast<size_t>(converted.count), n_classes, &needed) ||
      n_scores != needed) {
    return Report(InvalidArgument("n_scores is %zu, but %lld examples have %zu scores each",
                                  n_scores, static_cast<long long>(converted.count), n_classes));
  }
  return Report(trainer->trainer->judge().Predict(converted, scores));
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

tw_status tw_trainer_check_golden(tw_trainer* trainer, tw_comparison* comparison) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(comparison);
  const auto checked = trainer->trainer->judge().CheckGolden();
  if (!checked.ok()) return Report(checked.status());
  tw_comparison result = {};
  result.n_examples = checked->n_examples;
  result.before = checked->shipped;
  result.after = checked->trained;
  return Report(topwork::api::WriteStruct("tw_comparison", result, comparison));
}

tw_status tw_trainer_check_export(tw_trainer* trainer, tw_comparison* comparison) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(comparison);
  const auto checked = trainer->trainer->judge().CheckExport(ExampleSet::kValidation);
  if (!checked.ok()) return Report(checked.status());
  tw_comparison result = {};
  result.n_examples = checked->n_examples;
  result.before = checked->before;
  result.after = checked->after;
  return Report(topwork::api::WriteStruct("tw_comparison", result, comparison));
}
