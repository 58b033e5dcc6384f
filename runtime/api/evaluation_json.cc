// An evaluation as JSON.
#include "runtime/api/evaluation_json.h"

#include "runtime/base/json.h"

namespace topwork {
namespace api {
namespace {

void Number(const char* key, double value, JsonWriter* json) {
  json->Key(key);
  json->Double(value);
}

void Count(const char* key, int64_t value, JsonWriter* json) {
  json->Key(key);
  json->Int(value);
}

void WriteRegression(const RegressionMetrics& metrics, JsonWriter* json) {
  json->BeginObject();
  Number("mae", metrics.mae, json);
  Number("rmse", metrics.rmse, json);
  Number("r2", metrics.r2, json);
  json->EndObject();
}

void WriteClasses(const Evaluation& e, const std::vector<std::string>& names, JsonWriter* json) {
  json->Key("classes");
  json->BeginArray();
  for (size_t c = 0; c < e.classes.size(); ++c) {
    const ClassMetrics& metrics = e.classes[c];
    json->BeginObject();
    json->Key("name");
    json->String(c < names.size() ? names[c] : std::to_string(c));
    Count("n_examples", metrics.n_examples, json);
    Count("n_predicted", metrics.n_predicted, json);
    Number("precision", metrics.precision, json);
    Number("recall", metrics.recall, json);
    Number("f1", metrics.f1, json);
    if (e.kind == Loss::kSigmoidCrossEntropy) {
      Number("average_precision", metrics.average_precision, json);
    }
    json->EndObject();
  }
  json->EndArray();
}

void WriteConfusion(const Evaluation& e, JsonWriter* json) {
  const size_t n = static_cast<size_t>(e.n_classes);
  json->Key("confusion");
  json->BeginArray();
  for (size_t row = 0; row < n && !e.confusion.empty(); ++row) {
    json->BeginArray();
    for (size_t column = 0; column < n; ++column) json->Int(e.confusion[row * n + column]);
    json->EndArray();
  }
  json->EndArray();
}

void WriteReliability(const Evaluation& e, JsonWriter* json) {
  Number("calibration_error", e.calibration_error, json);
  json->Key("reliability");
  json->BeginArray();
  for (const ReliabilityBin& bin : e.reliability) {
    json->BeginObject();
    Count("n_examples", bin.n_examples, json);
    Number("confidence", bin.confidence, json);
    Number("accuracy", bin.accuracy, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteClassifier(const Evaluation& e, const std::vector<std::string>& names, JsonWriter* json) {
  Number("accuracy", e.accuracy, json);
  if (e.kind == Loss::kSoftmaxCrossEntropy) {
    Number("top1", e.top1, json);
    Number("top5", e.top5, json);
    WriteConfusion(e, json);
  } else {
    Number("exact_match", e.exact_match, json);
    Number("mean_average_precision", e.mean_average_precision, json);
  }
  Number("macro_precision", e.macro_precision, json);
  Number("macro_recall", e.macro_recall, json);
  Number("macro_f1", e.macro_f1, json);
  WriteClasses(e, names, json);
  WriteReliability(e, json);
}

void WriteWorst(const std::vector<WorstExample>& worst, JsonWriter* json) {
  json->Key("worst");
  json->BeginArray();
  for (const WorstExample& example : worst) {
    json->BeginObject();
    Count("index", example.index, json);
    Count("label", example.label, json);
    Count("predicted", example.predicted, json);
    Number("loss", example.loss, json);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

std::string EvaluationJson(const Evaluation& evaluation, const std::vector<std::string>& names,
                           const std::vector<WorstExample>& worst) {
  JsonWriter json;
  json.BeginObject();
  Count("n_examples", evaluation.n_examples, &json);
  Number("loss", evaluation.loss, &json);
  if (IsRegression(evaluation.kind)) {
    json.Key("regression");
    WriteRegression(evaluation.regression, &json);
    json.Key("outputs");
    json.BeginArray();
    for (const RegressionMetrics& output : evaluation.outputs) WriteRegression(output, &json);
    json.EndArray();
  } else {
    WriteClassifier(evaluation, names, &json);
  }
  WriteWorst(worst, &json);
  json.EndObject();
  return json.text();
}

}  // namespace api
}  // namespace topwork
