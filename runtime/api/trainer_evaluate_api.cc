// C API: judging a trainer's last layer: evaluation, calibration, the golden set.
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
  TW_ASSIGN_OR_RETURN(
      const topwork::api::GivenExamples given,
      topwork::api::ReadExamples(*trainer, c_examples, topwork::api::ExampleUse::kLabelled));
  return trainer->judge().Evaluate(given.examples, given.progress);
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
  Trainer& it = *trainer->trainer;
  const auto given = topwork::api::ReadExamples(it, examples, topwork::api::ExampleUse::kLabelled);
  if (!given.ok()) return Report(given.status());
  return Report(it.judge().SetGolden(given->examples, given->progress));
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
