// A training's document and page. The build embeds the page's script (toolchains/report_page.cmake).
#include "ports/cli/report.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ports/cli/html_page.h"

extern "C" {
extern const unsigned char topwork_report_js[], topwork_report_js_end[];
}

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxConfusions = 30;

template <typename T>
void AddPairs(const char* key, const std::vector<std::pair<std::string, T>>& pairs, Json* json) {
  for (const auto& pair : pairs) (*json)[key][pair.first] = pair.second;
}

Json EpochJson(const EpochRow& row) {
  Json epoch;
  epoch["epoch"] = row.epoch;
  epoch["train_loss"] = row.train_loss;
  if (row.has_accuracy) epoch["train_accuracy"] = row.train_accuracy;
  if (row.has_validation) epoch["validation_loss"] = row.validation_loss;
  if (row.has_validation && row.has_accuracy)
    epoch["validation_accuracy"] = row.validation_accuracy;
  if (row.learning_rate > 0.0) epoch["learning_rate"] = row.learning_rate;
  epoch["seconds"] = row.seconds;
  return epoch;
}

Json ComparisonJson(const ComparisonResult& result) {
  return {{"n_examples", result.n_examples}, {"before", result.before}, {"after", result.after}};
}

Json WorstJson(const WorstRow& row, bool with_image) {
  Json json;
  json["name"] = row.name;
  if (!row.label.empty()) json["label"] = row.label;
  if (!row.predicted.empty()) json["predicted"] = row.predicted;
  json["loss"] = row.loss;
  if (with_image && !row.image.empty()) json["image"] = row.image;
  return json;
}

Json SuspectsJson(const TrainingReport& report, bool with_images) {
  Json json = {{"n_suspects", report.n_suspects}};
  json["suspects"] = Json::array();
  for (const SuspectRow& row : report.suspects) {
    Json suspect = {{"name", row.name},
                    {"label", row.label},
                    {"suggested", row.suggested},
                    {"margin", row.margin}};
    if (with_images && !row.image.empty()) suspect["image"] = row.image;
    json["suspects"].push_back(suspect);
  }
  return json;
}

// The pairs of classes that are taken for each other most often.
Json WorstConfusions(const Evaluation& evaluation) {
  std::vector<std::tuple<int64_t, size_t, size_t>> pairs;  // −count, label, predicted
  const size_t n = evaluation.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= n; ++j) {
      if (i != j && evaluation.Count(i, j) > 0) pairs.push_back({-evaluation.Count(i, j), i, j});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  if (pairs.size() > kMaxConfusions) pairs.resize(kMaxConfusions);
  Json rows = Json::array();
  for (const auto& [count, label, predicted] : pairs) {
    Json row;
    row["label"] = evaluation.class_names[label];
    row["predicted"] = predicted < n ? evaluation.class_names[predicted] : "other";
    row["n_examples"] = -count;
    rows.push_back(row);
  }
  return rows;
}

// The page with pictures, and of many classes without the matrix.
std::string Render(const char* title, const Evaluation* evaluation,
                   const std::vector<WorstRow>& worst, Json* json) {
  (*json)["made_by"] = std::string("topwork ") + tw_version();
  (*json)["worst"] = Json::array();
  for (const WorstRow& row : worst) (*json)["worst"].push_back(WorstJson(row, true));
  if (evaluation != nullptr && evaluation->size() > kMaxMatrixClasses &&
      !evaluation->matrix.empty()) {
    (*json)["evaluation"]["confusion"] = Json::array();
    (*json)["evaluation"]["worst_confusions"] = WorstConfusions(*evaluation);
  }
  return RenderPage(title, *json, EmbeddedText(topwork_report_js, topwork_report_js_end));
}

}  // namespace

std::string NameOf(const DepthRow& row) {
  if (row.projected > 0) {
    return "last layer behind a random projection to " + std::to_string(row.projected);
  }
  if (row.hidden > 0) return "last layer behind " + std::to_string(row.hidden) + " hidden units";
  return row.layers == 1 ? "last layer alone" : "last " + std::to_string(row.layers) + " layers";
}

Json ReportJson(const TrainingReport& report) {
  Json json;
  json["model"] = report.model;
  json["data"] = report.data;
  json["output"] = report.output;
  if (!report.note.empty()) json["note"] = report.note;
  AddPairs("settings", report.settings, &json);
  AddPairs("model_info", report.model_info, &json);
  AddPairs("seconds", report.timings, &json);
  AddPairs("memory", report.memory, &json);
  json["epochs"] = Json::array();
  for (const EpochRow& row : report.epochs) json["epochs"].push_back(EpochJson(row));
  if (!report.candidates.empty()) {
    for (const CandidateRow& row : report.candidates) {
      json["candidates"].push_back({{"name", row.name},
                                    {"accuracy", row.accuracy},
                                    {"loss", row.loss},
                                    {"seconds", row.seconds},
                                    {"chosen", row.chosen}});
    }
    json["choice"] = report.choice;
  }
  for (const DepthRow& row : report.depths) {
    json["depths"].push_back({{"name", NameOf(row)},
                              {"layers", row.layers},
                              {"projected", row.projected},
                              {"hidden", row.hidden},
                              {"accuracy", row.accuracy},
                              {"loss", row.loss},
                              {"seconds", row.seconds},
                              {"bytes", row.bytes},
                              {"chosen", row.chosen},
                              {"skipped", row.skipped}});
  }
  if (!report.depths.empty()) json["depth_reason"] = report.depth_reason;
  json["evaluated_on"] = report.evaluated_on;
  json["fitted_on_all"] = report.fitted_on_all;
  json["evaluation"] = report.has_evaluation ? EvaluationJson(report.evaluation) : Json();
  if (report.has_calibration) {
    const CalibrationResult& c = report.calibration;
    json["calibration"] = {{"temperature", c.temperature},   {"at_bound", c.at_bound},
                           {"error_before", c.error_before}, {"error_after", c.error_after},
                           {"loss_before", c.loss_before},   {"loss_after", c.loss_after}};
  }
  if (report.has_intervals) {
    const double width = report.intervals.mean_width;
    json["intervals"] = {{"promised", report.interval_coverage},
                         {"coverage", report.intervals.coverage},
                         {"mean_width", std::isfinite(width) ? Json(width) : Json()},
                         {"n_examples", report.intervals.n_examples}};
  }
  if (report.has_golden) json["golden"] = ComparisonJson(report.golden);
  if (report.rejection.n_calibrated > 0) {
    const tw_rejection_summary& r = report.rejection;
    json["rejection"] = {
        {"promised", report.promised},      {"n_calibrated", r.n_calibrated},
        {"n_stored", r.n_stored},           {"n_negatives", r.n_negatives},
        {"known_refused", r.known_refused}, {"negatives_refused", r.negatives_refused}};
  }
  if (report.has_stored) json["stored"] = ComparisonJson(report.stored);
  json["worst"] = Json::array();
  for (const WorstRow& row : report.worst) json["worst"].push_back(WorstJson(row, false));
  if (report.has_audit) json["audit"] = SuspectsJson(report, false);
  return json;
}

std::string RenderReport(const TrainingReport& report) {
  Json json = ReportJson(report);
  if (report.has_audit) json["audit"] = SuspectsJson(report, true);
  return Render("Topwork training report", report.has_evaluation ? &report.evaluation : nullptr,
                report.worst, &json);
}

std::string RenderEvaluation(const Json& facts, const Evaluation& evaluation,
                             const std::vector<WorstRow>& worst) {
  Json json = facts;
  json["evaluation"] = EvaluationJson(evaluation);
  return Render("Topwork evaluation", &evaluation, worst, &json);
}

}  // namespace cli
}  // namespace topwork
