// C API: the audit of a trainer's examples, and which examples to label next.
#include "runtime/api/trainer_convert.h"
#include "runtime/api/trainer_handle.h"

using topwork::InvalidArgument;
using topwork::Status;
using topwork::api::Report;

namespace {

Status AuditLabels(tw_trainer* trainer, int n_neighbours, tw_audit* out) {
  constexpr int kNeighbours = 5;
  TW_ASSIGN_OR_RETURN(const topwork::LabelAudit found,
                      trainer->trainer->Audit(n_neighbours == 0 ? kNeighbours : n_neighbours));
  trainer->audit = std::vector<tw_audited_example>(found.examples.size());
  for (size_t i = 0; i < trainer->audit.size(); ++i) {
    const topwork::AuditedExample& e = found.examples[i];
    trainer->audit[i] = {e.index,       e.label, e.suggested,         e.margin,
                         e.probability, e.value, e.is_suspect ? 1 : 0};
    out->n_suspects += trainer->audit[i].is_suspect;
  }
  out->noise = found.noise;
  out->n_examples = trainer->audit.size();
  out->examples = trainer->audit.data();
  return Status::Ok();
}

// Nothing without a validation set.
Status FindNearDuplicates(tw_trainer* trainer, tw_audit* out) {
  const auto found = trainer->trainer->judge().FindNearDuplicates();
  if (found.status().code() == topwork::StatusCode::kFailedPrecondition) return Status::Ok();
  TW_RETURN_IF_ERROR(found.status());
  trainer->near_duplicates = {sizeof(tw_near_duplicates), found->n_checked, found->n_found,
                              found->held_back,           found->trained,   found->cosine};
  out->near_duplicates = &trainer->near_duplicates;
  return Status::Ok();
}

}  // namespace

tw_status tw_trainer_audit(tw_trainer* trainer, const tw_audit_options* options, tw_audit* audit) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(audit);
  TW_REPORT_IF_ERROR(topwork::api::CheckStructSize("tw_audit", audit->struct_size));
  tw_audit_options in = {};
  if (options != nullptr) {
    TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_audit_options", options, &in));
  }
  if (in.n_neighbours < 0) return Report(InvalidArgument("n_neighbours is {}", in.n_neighbours));
  tw_audit result = {};
  if (in.duplicates_only == 0) {
    TW_REPORT_IF_ERROR(AuditLabels(trainer, in.n_neighbours, &result));
  }
  TW_REPORT_IF_ERROR(FindNearDuplicates(trainer, &result));
  return Report(topwork::api::WriteStruct("tw_audit", result, audit));
}

tw_status tw_trainer_suggest(tw_trainer* trainer, const tw_examples* examples,
                             tw_suggestion* suggestions, size_t n_suggestions) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(examples);
  TW_REQUIRE(suggestions);
  topwork::Trainer& it = *trainer->trainer;
  const auto given =
      topwork::api::ReadExamples(it, examples, topwork::api::ExampleUse::kUnlabelled);
  if (!given.ok()) return Report(given.status());
  if (n_suggestions > static_cast<size_t>(given->examples.count)) {
    return Report(InvalidArgument("n_suggestions is {}, but there are {} examples", n_suggestions,
                                  given->examples.count));
  }
  const auto found =
      it.Suggest(given->examples, given->progress, static_cast<int64_t>(n_suggestions));
  if (!found.ok()) return Report(found.status());
  for (size_t i = 0; i < n_suggestions; ++i) {
    const topwork::Suggestion& from = (*found)[i];
    suggestions[i] = {from.index, from.predicted, from.distance, from.doubt};
  }
  return TW_STATUS_OK;
}
