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
  Table table({"class", ">", ">examples", ">precision", ">recall", ""});
  const std::vector<ClassMetrics> all = evaluation.PerClass();
  for (size_t c = 0; c < all.size(); ++c) {
    table.Row({Shorten(all[c].name, kNameWidth), Paint(1, "2", std::to_string(c)),
               std::to_string(all[c].n_examples), PercentText(all[c].precision),
               PercentText(all[c].recall),
               UseColour(1) ? Paint(1, "32", Bar(all[c].recall, 16)) : ""});
  }
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

std::vector<ClassMetrics> Evaluation::PerClass() const {
  std::vector<ClassMetrics> all;
  for (size_t c = 0; c < n_classes(); ++c) {
    ClassMetrics metrics;
    metrics.name = class_names[c];
    int64_t called = 0;
    for (size_t i = 0; i < n_classes(); ++i) called += Count(i, c);
    for (size_t j = 0; j <= n_classes(); ++j) metrics.n_examples += Count(c, j);
    metrics.precision = Ratio(Count(c, c), called);
    metrics.recall = Ratio(Count(c, c), metrics.n_examples);
    all.push_back(metrics);
  }
  return all;
}

Json EvaluationJson(const Evaluation& evaluation) {
  Json json;
  json["n_examples"] = evaluation.n_examples;
  json["top1"] = evaluation.top1;
  json["top5"] = evaluation.top5;
  json["loss"] = std::isfinite(evaluation.loss) ? Json(evaluation.loss) : Json();
  json["classes"] = Json::array();
  for (const ClassMetrics& metrics : evaluation.PerClass()) {
    Json entry;
    entry["name"] = metrics.name;
    entry["n_examples"] = metrics.n_examples;
    entry["precision"] = metrics.precision;
    entry["recall"] = metrics.recall;
    json["classes"].push_back(entry);
  }
  json["confusion"] = Json::array();
  json["confusion_other"] = Json::array();
  json["said_instead"] = Json::array();
  for (const auto& said : evaluation.said_instead) {
    Json entry;
    entry["name"] = said.first;
    entry["n_examples"] = said.second;
    json["said_instead"].push_back(entry);
  }
  const size_t n = evaluation.n_classes();
  for (size_t i = 0; i < n; ++i) {
    Json row = Json::array();
    for (size_t j = 0; j < n; ++j) row.push_back(evaluation.Count(i, j));
    json["confusion"].push_back(row);
    json["confusion_other"].push_back(evaluation.Count(i, n));
  }
  return json;
}

void PrintEvaluation(const Evaluation& evaluation) {
  std::string text = "top-1 " + Paint(1, "1;32", PercentText(evaluation.top1)) + ", top-5 " +
                     PercentText(evaluation.top5);
  if (std::isfinite(evaluation.loss)) {
    char loss[32];
    std::snprintf(loss, sizeof(loss), ", loss %.4f", evaluation.loss);
    text += loss;
  }
  std::printf("%s on %lld examples\n", text.c_str(), static_cast<long long>(evaluation.n_examples));
  PrintSaidInstead(evaluation);
  if (evaluation.top5 == 0.0) return;  // all zeros
  if (evaluation.n_classes() > kMaxPrintedClasses) {
    std::printf("(%zu classes: the tables are in --json)\n", evaluation.n_classes());
    return;
  }
  PrintClasses(evaluation);
  PrintConfusion(evaluation);
}

}  // namespace cli
}  // namespace topwork
