// Evaluations as JSON. Printing is in evaluation_print.cc.
#include "ports/cli/evaluation.h"

#include <cmath>

namespace topwork {
namespace cli {
namespace {

constexpr const char* kLosses[] = {"softmax", "sigmoid", "mse", "huber"};

void AddClassesJson(const Evaluation& evaluation, Json* json) {
  (*json)["classes"] = Json::array();
  for (size_t c = 0; c < evaluation.per_class.size(); ++c) {
    const tw_class_metrics& metrics = evaluation.per_class[c];
    Json entry;
    entry["name"] = evaluation.class_names[c];
    entry["n_examples"] = metrics.n_examples;
    entry["n_predicted"] = metrics.n_predicted;
    entry["precision"] = metrics.precision;
    entry["recall"] = metrics.recall;
    entry["f1"] = metrics.f1;
    if (evaluation.kind == TW_LOSS_SIGMOID) entry["average_precision"] = metrics.average_precision;
    (*json)["classes"].push_back(entry);
  }
  (*json)["macro"] = {{"precision", evaluation.macro_precision},
                      {"recall", evaluation.macro_recall},
                      {"f1", evaluation.macro_f1}};
  if (evaluation.bins.empty()) return;
  (*json)["calibration_error"] = evaluation.calibration_error;
  (*json)["reliability"] = Json::array();
  for (const tw_reliability_bin& bin : evaluation.bins) {
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
  const size_t n = evaluation.size();
  for (size_t i = 0; i < n && !evaluation.matrix.empty(); ++i) {
    Json row = Json::array();
    for (size_t j = 0; j < n; ++j) row.push_back(evaluation.Count(i, j));
    (*json)["confusion"].push_back(row);
    (*json)["confusion_other"].push_back(evaluation.Count(i, n));
  }
}

void AddOutputsJson(const Evaluation& evaluation, Json* json) {
  (*json)["mae"] = evaluation.mean_absolute_error;
  (*json)["rmse"] = evaluation.root_mean_squared_error;
  (*json)["r2"] = evaluation.r2;
  (*json)["outputs"] = Json::array();
  for (size_t c = 0; c < evaluation.per_class.size(); ++c) {
    const tw_class_metrics& metrics = evaluation.per_class[c];
    Json entry;
    entry["name"] = evaluation.class_names[c];
    entry["mae"] = metrics.mean_absolute_error;
    entry["rmse"] = metrics.root_mean_squared_error;
    entry["r2"] = metrics.r2;
    (*json)["outputs"].push_back(entry);
  }
}

// The worst first.
void AddGroupsJson(const Evaluation& evaluation, Json* json) {
  if (evaluation.per_group.empty()) return;
  (*json)["groups"] = Json::array();
  for (const tw_group_metrics& group : evaluation.per_group) {
    Json entry;
    entry["name"] = evaluation.GroupName(group.group);
    entry["n_examples"] = group.n_examples;
    entry[evaluation.is_regression() ? "loss" : "accuracy"] =
        evaluation.is_regression() ? group.loss : group.accuracy;
    (*json)["groups"].push_back(entry);
  }
  const tw_group_metrics& worst = evaluation.per_group[0];
  if (!evaluation.is_regression()) (*json)["worst_group_accuracy"] = worst.accuracy;
}

}  // namespace

const char* LossName(tw_loss loss) { return kLosses[loss]; }

tw_loss LossOf(const std::string& name) {
  int loss = TW_LOSS_SOFTMAX;
  while (loss < TW_LOSS_HUBER && name != kLosses[loss]) ++loss;
  return static_cast<tw_loss>(loss);
}

Json EvaluationJson(const Evaluation& evaluation) {
  Json json;
  json["kind"] = LossName(evaluation.kind);
  json["n_examples"] = evaluation.n_examples;
  json["loss"] = std::isfinite(evaluation.loss) ? Json(evaluation.loss) : Json();
  AddGroupsJson(evaluation, &json);
  if (evaluation.is_regression()) {
    AddOutputsJson(evaluation, &json);
    return json;
  }
  if (evaluation.kind == TW_LOSS_SIGMOID) {
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
