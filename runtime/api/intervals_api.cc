// C API: near-duplicates among a trainer's examples, and intervals around predicted numbers.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::api::Report;

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

tw_status tw_trainer_predict_intervals(tw_trainer* trainer, const tw_examples* examples,
                                       double coverage, float* lower, float* upper,
                                       size_t n_values) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(lower);
  TW_REQUIRE(upper);
  topwork::Examples converted;
  TW_REPORT_IF_ERROR(topwork::api::ConvertUnlabelled(*trainer->trainer, examples, "n_values",
                                                     n_values, &converted));
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
