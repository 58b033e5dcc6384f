// C API: intervals around predicted numbers.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::Status;
using topwork::Trainer;
using topwork::api::Report;

namespace {

Status CheckIntervals(Trainer* trainer, double coverage, tw_interval_check* check) {
  TW_ASSIGN_OR_RETURN(const topwork::IntervalCheck checked,
                      trainer->judge().CheckIntervals(coverage));
  const tw_interval_check result = {sizeof(result), checked.n_examples, checked.coverage,
                                    checked.mean_width};
  return topwork::api::WriteStruct("tw_interval_check", result, check);
}

}  // namespace

tw_status tw_trainer_predict_intervals(tw_trainer* trainer, const tw_examples* examples,
                                       double coverage, float* lower, float* upper, size_t n_values,
                                       tw_interval_check* check) {
  TW_REQUIRE(trainer);
  Trainer& it = *trainer->trainer;
  const bool checks_alone = examples == nullptr && n_values == 0 && check != nullptr;
  if (!checks_alone) {
    TW_REQUIRE(examples);
    TW_REQUIRE(lower);
    TW_REQUIRE(upper);
    const auto given = topwork::api::ReadExamplesToPredict(it, examples, "n_values", n_values);
    if (!given.ok()) return Report(given.status());
    TW_REPORT_IF_ERROR(it.judge().PredictIntervals(given->examples, coverage, lower, upper));
  }
  return check == nullptr ? TW_STATUS_OK : Report(CheckIntervals(&it, coverage, check));
}
