// Metrics: derived from the confusion matrix; printed as tables.
#include "ports/cli/metrics.h"

#include <algorithm>
#include <cstdio>

#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxPrintedClasses = 20;
constexpr size_t kNameWidth = 18;

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The name cut or padded to the width, counted in characters (UTF-8).
std::string Fit(const std::string& name, size_t width) {
  std::string text;
  size_t n = 0;
  for (size_t i = 0; i < name.size() && n < width; ++n) {
    size_t length = 1;
    while (i + length < name.size() && (name[i + length] & 0xc0) == 0x80) ++length;
    text.append(name, i, length);
    i += length;
  }
  return text + std::string(width - n, ' ');
}

void PrintConfusion(const Evaluation& evaluation) {
  const size_t n = evaluation.n_classes();
  bool others = false;
  for (size_t i = 0; i < n; ++i) others = others || evaluation.Count(i, n) > 0;
  std::printf("\nconfusion matrix (rows: true class, columns: predicted)\n%s",
              std::string(kNameWidth + 5, ' ').c_str());
  for (size_t j = 0; j < n; ++j) std::printf("%5zu", j);
  std::printf("%s\n", others ? " other" : "");
  for (size_t i = 0; i < n; ++i) {
    std::printf("%3zu  %s", i, Fit(evaluation.class_names[i], kNameWidth).c_str());
    for (size_t j = 0; j < n + (others ? 1 : 0); ++j) {
      char cell[24];
      std::snprintf(cell, sizeof(cell), j < n ? "%5lld" : "%6lld",
                    static_cast<long long>(evaluation.Count(i, j)));
      const bool zero = evaluation.Count(i, j) == 0;
      std::printf("%s", i == j && !zero ? Paint(1, "32", cell).c_str()
                        : zero          ? Paint(1, "2", cell).c_str()
                                        : Paint(1, "31", cell).c_str());
    }
    std::printf("\n");
  }
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
  json["loss"] = evaluation.loss;
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
  char top1[16];
  std::snprintf(top1, sizeof(top1), "%.1f %%", 100.0 * evaluation.top1);
  std::printf("top-1 %s, top-5 %.1f %%, loss %.4f on %lld examples\n",
              Paint(1, "1;32", top1).c_str(), 100.0 * evaluation.top5, evaluation.loss,
              static_cast<long long>(evaluation.n_examples));
  if (evaluation.n_classes() > kMaxPrintedClasses) {
    std::printf("(%zu classes: the tables are in --json)\n", evaluation.n_classes());
    return;
  }
  std::printf("\n%s %9s %10s %8s\n", Fit("class", kNameWidth + 4).c_str(), "examples", "precision",
              "recall");
  const std::vector<ClassMetrics> all = evaluation.PerClass();
  for (size_t c = 0; c < all.size(); ++c) {
    std::printf("%3zu  %s %8lld %9.1f%% %7.1f%%\n", c, Fit(all[c].name, kNameWidth).c_str(),
                static_cast<long long>(all[c].n_examples), 100.0 * all[c].precision,
                100.0 * all[c].recall);
  }
  PrintConfusion(evaluation);
}

}  // namespace cli
}  // namespace topwork
