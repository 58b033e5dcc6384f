// Metrics: derived from counts; as JSON. Printing is in metrics_print.cc.
#include "ports/cli/metrics.h"

#include <algorithm>
#include <cmath>

namespace topwork {
namespace cli {
namespace {

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
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

void FinishClass(int64_t n_right, ClassMetrics* metrics) {
  metrics->precision = Ratio(n_right, metrics->n_predicted);
  metrics->recall = Ratio(n_right, metrics->n_examples);
  metrics->f1 = Ratio(2 * n_right, metrics->n_predicted + metrics->n_examples);
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
  if (kind != "softmax" || !decisions.empty() || confusion.empty()) return decisions;
  std::vector<ClassMetrics> all;
  for (size_t c = 0; c < n_classes(); ++c) {
    ClassMetrics metrics;
    metrics.name = class_names[c];
    int64_t called = 0;
    for (size_t i = 0; i < n_classes(); ++i) called += Count(i, c);
    for (size_t j = 0; j <= n_classes(); ++j) metrics.n_examples += Count(c, j);
    metrics.n_predicted = called;
    FinishClass(Count(c, c), &metrics);
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
    entry["n_predicted"] = metrics.n_predicted;
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

Json WorstJson(const std::vector<WorstExample>& worst) {
  Json json = Json::array();
  for (const WorstExample& example : worst) {
    Json entry;
    entry["name"] = example.name;
    entry["label"] = example.label;
    entry["predicted"] = example.predicted;
    entry["loss"] = std::isfinite(example.loss) ? Json(example.loss) : Json();
    json.push_back(entry);
  }
  return json;
}

}  // namespace cli
}  // namespace topwork
