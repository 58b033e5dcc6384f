// RenderReport: the page's skeleton around its data, its style and script, and uPlot. The build
// embeds these files (toolchains/report_page.cmake); without uPlot its two files are empty.
#include "ports/cli/report.h"

#include <algorithm>
#include <tuple>

extern "C" {
extern const unsigned char topwork_uplot_js[], topwork_uplot_js_end[];
extern const unsigned char topwork_uplot_css[], topwork_uplot_css_end[];
extern const unsigned char topwork_report_js[], topwork_report_js_end[];
extern const unsigned char topwork_report_css[], topwork_report_css_end[];
}

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxConfusions = 30;

std::string Embedded(const unsigned char* begin, const unsigned char* end) {
  return std::string(reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin));
}

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

// Inside a script element, "</script" and "<!--" must not appear.
std::string ForScript(const Json& json) {
  const std::string text = json.dump(1, ' ', false, nlohmann::detail::error_handler_t::replace);
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

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
  json["evaluated_on"] = report.evaluated_on;
  json["fitted_on_all"] = report.fitted_on_all;
  json["evaluation"] = report.has_evaluation ? EvaluationJson(report.evaluation) : Json();
  if (report.has_calibration) {
    const CalibrationResult& c = report.calibration;
    json["calibration"] = {{"temperature", c.temperature},   {"at_bound", c.at_bound},
                           {"error_before", c.error_before}, {"error_after", c.error_after},
                           {"loss_before", c.loss_before},   {"loss_after", c.loss_after}};
  }
  if (report.has_golden) json["golden"] = ComparisonJson(report.golden);
  if (report.has_stored) json["stored"] = ComparisonJson(report.stored);
  json["worst"] = Json::array();
  for (const WorstRow& row : report.worst) json["worst"].push_back(WorstJson(row, false));
  return json;
}

std::string RenderReport(const TrainingReport& report) {
  Json json = ReportJson(report);
  json["made_by"] = std::string("topwork ") + tw_version();
  json["worst"] = Json::array();
  for (const WorstRow& row : report.worst) json["worst"].push_back(WorstJson(row, true));
  if (report.has_evaluation && report.evaluation.size() > kMaxMatrixClasses &&
      !report.evaluation.matrix.empty()) {
    json["evaluation"]["confusion"] = Json::array();
    json["evaluation"]["worst_confusions"] = WorstConfusions(report.evaluation);
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n"
         "<title>Topwork training report</title>\n<style>" +
         Embedded(topwork_uplot_css, topwork_uplot_css_end) + "\n" +
         Embedded(topwork_report_css, topwork_report_css_end) +
         "</style></head>\n<body><main id=\"page\"></main>\n"
         "<noscript><p>This report draws itself with JavaScript, which is off; its numbers are in "
         "the JSON block of the page's source.</p></noscript>\n"
         "<script type=\"application/json\" id=\"data\">" +
         ForScript(json) + "</script>\n<script>" +
         Embedded(topwork_uplot_js, topwork_uplot_js_end) + "</script>\n<script>" +
         Embedded(topwork_report_js, topwork_report_js_end) + "</script>\n</body></html>\n";
}

}  // namespace cli
}  // namespace topwork
