// C API of a trainer's part in refusing: negatives, names, and what the last export found.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::api::Report;

tw_status tw_trainer_add_negatives(tw_trainer* trainer, const tw_examples* examples) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*trainer->trainer, examples, false, &converted, &progress));
  return Report(trainer->trainer->rejecter().AddNegatives(converted, progress));
}

tw_status tw_trainer_set_example_names(tw_trainer* trainer, const char* const* names,
                                       size_t n_names) {
  TW_REQUIRE(trainer);
  if (n_names > 0) TW_REQUIRE(names);
  std::vector<std::string> copied;
  for (size_t i = 0; i < n_names; ++i) {
    copied.emplace_back(names[i] == nullptr ? "" : names[i]);
    if (copied.back().find('\n') == std::string::npos) continue;
    return Report(topwork::InvalidArgument("the name of example {} holds a line break", i));
  }
  trainer->trainer->rejecter().SetNames(std::move(copied));
  return TW_STATUS_OK;
}

tw_status tw_trainer_get_rejection(tw_trainer* trainer, tw_rejection_summary* summary) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(summary);
  const topwork::RejectionSummary& found = trainer->trainer->rejecter().summary();
  tw_rejection_summary result = {};
  result.n_calibrated = found.n_calibrated;
  result.n_stored = found.n_stored;
  result.n_negatives = found.n_negatives;
  result.known_refused = found.known_refused;
  result.negatives_refused = found.negatives_refused;
  return Report(topwork::api::WriteStruct("tw_rejection_summary", result, summary));
}
