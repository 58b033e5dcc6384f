// The page of `evaluate --report`.
#include "ports/cli/data/image.h"
#include "ports/cli/data/thumbnail.h"
#include "ports/cli/evaluate.h"
#include "ports/cli/files.h"
#include "ports/cli/report.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

std::vector<WorstRow> WorstRows(const EvaluateOptions& options, const EvaluationExtras& extras) {
  std::vector<WorstRow> rows;
  for (const WorstExample& example : extras.worst) {
    const std::string path = options.data + "/" + example.name;
    rows.push_back({example.name, example.label, example.predicted, example.loss,
                    IsImagePath(path) ? ThumbnailOfFile(path) : ""});
  }
  return rows;
}

}  // namespace

void WriteEvaluationPage(const EvaluateOptions& options, const Evaluation& evaluation,
                         const EvaluationExtras& extras, double seconds) {
  Json facts;
  facts["title"] = "How well a model does";
  facts["about"] = options.common.model + " on " + options.data +
                   (options.unknown.empty() ? "" : ", unknown examples from " + options.unknown);
  facts["evaluated_on"] = CountText(evaluation.n_examples, "example");
  if (!extras.note.empty()) facts["note"] = extras.note;
  if (extras.has_rejection) facts["rejection"] = RejectionJson(extras.rejection, true);
  facts["seconds"]["total"] = seconds;
  const std::string html = RenderEvaluation(facts, evaluation, WorstRows(options, extras));
  WriteWholeFile(options.report, html.data(), html.size());
}

}  // namespace cli
}  // namespace topwork
