// Metrics: derived from the confusion matrix; printed as tables.
#include "ports/cli/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxPrintedClasses = 20;
constexpr size_t kNameWidth = 24;

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void PrintConfusion(const Evaluation& evaluation) {
  const size_t n = evaluation.n_classes();
  bool others = false;
  for (size_t i = 0; i < n; ++i) others = others || evaluation.Count(i, n) > 0;
  std::printf("\n%s\n", Paint(1, "2",
                              "confusion matrix: rows are true classes, columns what the "
                              "model said")
                            .c_str());
  std::vector<std::string> titles = {"", ">"};
  for (size_t j = 0; j < n; ++j) titles.push_back(">" + std::to_string(j));
  if (others) titles.push_back(">other");
  Table table(titles);
  for (size_t i = 0; i < n; ++i) {
    std::vector<std::string> row = {Shorten(evaluation.class_names[i], kNameWidth),
                                    Paint(1, "2", std::to_string(i))};
    for (size_t j = 0; j < n + (others ? 1 : 0); ++j) {
      const int64_t count = evaluation.Count(i, j);
      row.push_back(count == 0 ? Paint(1, "2", "·")
                               : Paint(1, i == j ? "1;32" : "31", std::to_string(count)));
    }
    table.Row(row);
  }
  table.Print(2);
}

void PrintClasses(const Evaluation& evaluation) {
  std::printf("\n");
  const bool several = evaluation.kind == "sigmoid";
  Table table({"class", ">", ">examples", ">precision", ">recall", ">F1",
               several ? ">average precision" : ""});
  const std::vector<ClassMetrics> all = evaluation.PerClass();
  for (size_t c = 0; c < all.size(); ++c) {
    table.Row({Shorten(all[c].name, kNameWidth), Paint(1, "2", std::to_string(c)),
               std::to_string(all[c].n_examples), PercentText(all[c].precision),
               PercentText(all[c].recall), PercentText(all[c].f1),
               several        ? PercentText(all[c].average_precision)
               : UseColour(1) ? Paint(1, "32", Bar(all[c].recall, 16))
                              : ""});
  }
  const ClassMetrics mean = MacroMean(all);
  table.Row({Paint(1, "2", "mean"), "", "", PercentText(mean.precision), PercentText(mean.recall),
             PercentText(mean.f1), several ? PercentText(evaluation.mean_average_precision) : ""});
  table.Print(2);
}

void PrintOutputs(const Evaluation& evaluation) {
  Table table({"output", ">MAE", ">RMSE", ">R²"});
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.4g", value);
    return std::string(text);
  };
  std::vector<OutputMetrics> rows = evaluation.outputs;
  if (rows.size() > kMaxPrintedClasses) rows.clear();
  rows.push_back(evaluation.overall);
  for (const OutputMetrics& m : rows) {
    table.Row({Shorten(m.name, kNameWidth), number(m.mae), number(m.rmse), number(m.r2)});
  }
  std::printf("\n");
  table.Print(2);
}

void PrintSaidInstead(const Evaluation& evaluation) {
  std::string text;
  int64_t n_other = 0;
  for (size_t c = 0; c < evaluation.n_classes(); ++c) {
    n_other += evaluation.Count(c, evaluation.n_classes());
  }
  for (size_t i = 0; i < std::min<size_t>(3, evaluation.said_instead.size()); ++i) {
    text += (i > 0 ? ", " : "") + evaluation.said_instead[i].first + " (" +
            std::to_string(evaluation.said_instead[i].second) + ")";
  }
  if (n_other == 0 || text.empty()) return;
  std::printf(
      "%lld of %lld were put into classes that the data does not have;\n"
      "most often: %s\n",
      static_cast<long long>(n_other), static_cast<long long>(evaluation.n_examples), text.c_str());
}

}  // namespace

void Reliability::Add(double confidence, bool right) {
  const double n = static_cast<double>(bins_.size());
  const double bin = std::ceil(confidence * n) - 1.0;
  ReliabilityBin& sums = bins_[static_cast<size_t>(std::min(std::max(bin, 0.0), n - 1.0))];
  ++sums.n_examples;
  sums.confidence += confidence;
  sums.accuracy += right ? 1.0 : 0.0;
}

void Reliability::Finish(Evaluation* evaluation) const {
  evaluation->reliability = bins_;
  double distance = 0.0;
  int64_t n_examples = 0;
  for (ReliabilityBin& bin : evaluation->reliability) {
    if (bin.n_examples == 0) continue;
    distance += std::fabs(bin.confidence - bin.accuracy);
    n_examples += bin.n_examples;
    bin.confidence /= static_cast<double>(bin.n_examples);
    bin.accuracy /= static_cast<double>(bin.n_examples);
  }
  evaluation->calibration_error =
      n_examples == 0 ? 0.0 : distance / static_cast<double>(n_examples);
}

ClassMetrics MacroMean(const std::vector<ClassMetrics>& classes) {
  ClassMetrics mean;
  double n = 0.0;
  for (const ClassMetrics& m : classes) {
    if (m.n_examples == 0 && m.n_predicted == 0) continue;
    n += 1.0;
    mean.precision += m.precision;
    mean.recall += m.recall;
    mean.f1 += m.f1;
  }
  n = std::max(n, 1.0);
  mean.precision /= n;
  mean.recall /= n;
  mean.f1 /= n;
  return mean;
}

std::vector<ClassMetrics> Evaluation::PerClass() const {
  if (kind != "softmax") return decisions;
  std::vector<ClassMetrics> all;
  for (size_t c = 0; c < n_classes(); ++c) {
    ClassMetrics metrics;
    metrics.name = class_names[c];
    int64_t called = 0;
    for (size_t i = 0; i < n_classes(); ++i) called += Count(i, c);
    for (size_t j = 0; j <= n_classes(); ++j) metrics.n_examples += Count(c, j);
    metrics.precision = Ratio(Count(c, c), called);
    metrics.recall = Ratio(Count(c, c), metrics.n_examples);
    metrics.f1 = Ratio(2 * Count(c, c), called + metrics.n_examples);
    metrics.n_predicted = called;
    all.push_back(metrics);
  }
  return all;
}

namespace {

void AddClassesJson(const Evaluation& evaluation, Json* json) {
  const std::vector<ClassMetrics> classes = evaluation.PerClass();
  (*json)["classes"] = Json::array();
  for (const ClassMetrics& metrics : classes) {
    Json entry;
    entry["name"] = metrics.name;
    entry["n_examples"] = metrics.n_examples;
    entry["precision"] = metrics.precision;
    entry["recall"] = metrics.recall;
    entry["f1"] = metrics.f1;
    if (evaluation.kind == "sigmoid") entry["average_precision"] = metrics.average_precision;
    (*json)["classes"].push_back(entry);
  }
  const ClassMetrics mean = MacroMean(classes);
  (*json)["macro"] = {{"precision", mean.precision}, {"recall", mean.recall}, {"f1", mean.f1}};
  if (evaluation.reliability.empty()) return;
  (*json)["calibration_error"] = evaluation.calibration_error;
  (*json)["reliability"] = Json::array();
  for (const ReliabilityBin& bin : evaluation.reliability) {
    Json entry;
    entry["n_examples"] = bin.n_examples;
    entry["confidence"] = bin.confidence;
    entry["accuracy"] = bin.accuracy;
    (*json)["reliability"].push_back(entry);
  }
}

void AddConfusionJson(const Evaluation& evaluation, Json* json) {
  (*json)["confusion"] = Json::array();
  (*json)["confusion_other"] = Json::array();
  (*json)["said_instead"] = Json::array();
  for (const auto& said : evaluation.said_instead) {
    Json entry;
    entry["name"] = said.first;
    entry["n_examples"] = said.second;
    (*json)["said_instead"].push_back(entry);
  }
  const size_t n = evaluation.n_classes();
  for (size_t i = 0; i < n && !evaluation.confusion.empty(); ++i) {
    Json row = Json::array();
    for (size_t j = 0; j < n; ++j) row.push_back(evaluation.Count(i, j));
    (*json)["confusion"].push_back(row);
    (*json)["confusion_other"].push_back(evaluation.Count(i, n));
  }
}

void AddOutputsJson(const Evaluation& evaluation, Json* json) {
  (*json)["mae"] = evaluation.overall.mae;
  (*json)["rmse"] = evaluation.overall.rmse;
  (*json)["r2"] = evaluation.overall.r2;
  (*json)["outputs"] = Json::array();
  for (const OutputMetrics& metrics : evaluation.outputs) {
    Json entry;
    entry["name"] = metrics.name;
    entry["mae"] = metrics.mae;
    entry["rmse"] = metrics.rmse;
    entry["r2"] = metrics.r2;
    (*json)["outputs"].push_back(entry);
  }
}

// The first line of what is printed for people.
std::string Headline(const Evaluation& evaluation) {
  char text[160];
  if (evaluation.is_regression()) {
    std::snprintf(text, sizeof(text), "MAE %.4g, RMSE %.4g, R² ", evaluation.overall.mae,
                  evaluation.overall.rmse);
    char r2[32];
    std::snprintf(r2, sizeof(r2), "%.4f", evaluation.overall.r2);
    return text + Paint(1, "1;32", r2);
  }
  if (evaluation.kind == "sigmoid") {
    return "decisions right " + Paint(1, "1;32", PercentText(evaluation.accuracy)) +
           ", all of an example's " + PercentText(evaluation.exact_match) +
           ", mean average precision " + PercentText(evaluation.mean_average_precision);
  }
  std::string line = "top-1 " + Paint(1, "1;32", PercentText(evaluation.top1)) + ", top-5 " +
                     PercentText(evaluation.top5);
  if (evaluation.k != 5) {
    line += ", top-" + std::to_string(evaluation.k) + " " + PercentText(evaluation.top_k);
  }
  return line;
}

}  // namespace

Json EvaluationJson(const Evaluation& evaluation) {
  Json json;
  json["kind"] = evaluation.kind;
  json["n_examples"] = evaluation.n_examples;
  json["loss"] = std::isfinite(evaluation.loss) ? Json(evaluation.loss) : Json();
  if (evaluation.is_regression()) {
    AddOutputsJson(evaluation, &json);
    return json;
  }
  if (evaluation.kind == "sigmoid") {
    json["accuracy"] = evaluation.accuracy;
    json["exact_match"] = evaluation.exact_match;
    json["mean_average_precision"] = evaluation.mean_average_precision;
    AddClassesJson(evaluation, &json);
    return json;
  }
  json["top1"] = evaluation.top1;
  json["top5"] = evaluation.top5;
  json["k"] = evaluation.k;
  json["top_k"] = evaluation.top_k;
  AddClassesJson(evaluation, &json);
  AddConfusionJson(evaluation, &json);
  return json;
}

void PrintEvaluation(const Evaluation& evaluation) {
  std::string text = Headline(evaluation);
  if (std::isfinite(evaluation.loss)) {
    char loss[32];
    std::snprintf(loss, sizeof(loss), ", loss %.4f", evaluation.loss);
    text += loss;
  }
  if (!evaluation.reliability.empty()) {
    text += ", calibration error " + PercentText(evaluation.calibration_error);
  }
  std::printf("%s on %lld examples\n", text.c_str(), static_cast<long long>(evaluation.n_examples));
  if (evaluation.is_regression()) {
    PrintOutputs(evaluation);
    return;
  }
  if (evaluation.kind == "softmax") {
    PrintSaidInstead(evaluation);
    if (evaluation.top5 == 0.0) return;  // all zeros
  }
  if (evaluation.n_classes() > kMaxPrintedClasses) {
    std::printf("(%zu classes: the tables are in --json)\n", evaluation.n_classes());
    return;
  }
  PrintClasses(evaluation);
  if (evaluation.kind == "softmax") PrintConfusion(evaluation);
}

}  // namespace cli
}  // namespace topwork
