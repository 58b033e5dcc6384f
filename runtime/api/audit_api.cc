// C API: the audit of a trainer's labels, and which examples to label next.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::InvalidArgument;
using topwork::api::Report;

tw_status tw_trainer_audit(tw_trainer* trainer, int32_t n_neighbours, tw_audit* audit) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(audit);
  TW_REPORT_IF_ERROR(topwork::api::CheckStructSize("tw_audit", audit->struct_size));
  if (n_neighbours < 0) return Report(InvalidArgument("n_neighbours is {}", n_neighbours));
  constexpr int kNeighbours = 5;
  const auto found = trainer->trainer->Audit(n_neighbours == 0 ? kNeighbours : n_neighbours);
  if (!found.ok()) return Report(found.status());
  tw_audit result = {};
  trainer->audit = std::vector<tw_audited_example>(found->examples.size());
  for (size_t i = 0; i < trainer->audit.size(); ++i) {
    const topwork::AuditedExample& e = found->examples[i];
    trainer->audit[i] = {e.index,       e.label, e.suggested,         e.margin,
                         e.probability, e.value, e.is_suspect ? 1 : 0};
    result.n_suspects += trainer->audit[i].is_suspect;
  }
  result.noise = found->noise;
  result.n_examples = trainer->audit.size();
  result.examples = trainer->audit.data();
  return Report(topwork::api::WriteStruct("tw_audit", result, audit));
}

tw_status tw_trainer_suggest(tw_trainer* trainer, const tw_examples* examples,
                             tw_suggestion* suggestions, size_t n_suggestions) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(suggestions);
  topwork::Examples converted;
  topwork::FeatureProgress progress;
  TW_REPORT_IF_ERROR(
      topwork::api::ConvertExamples(*trainer->trainer, examples, false, &converted, &progress));
  if (n_suggestions > static_cast<size_t>(converted.count)) {
    return Report(InvalidArgument("n_suggestions is {}, but there are {} examples", n_suggestions,
                                  converted.count));
  }
  const auto found =
      trainer->trainer->Suggest(converted, progress, static_cast<int64_t>(n_suggestions));
  if (!found.ok()) return Report(found.status());
  for (size_t i = 0; i < n_suggestions; ++i) {
    const topwork::Suggestion& from = (*found)[i];
    suggestions[i] = {from.index, from.predicted, from.distance, from.doubt};
  }
  return TW_STATUS_OK;
}
