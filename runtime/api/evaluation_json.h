// An evaluation as JSON, for tw_trainer_describe_evaluation.
#ifndef TOPWORK_RUNTIME_API_EVALUATION_JSON_H_
#define TOPWORK_RUNTIME_API_EVALUATION_JSON_H_

#include <string>
#include <vector>

#include "runtime/train/judge/metrics.h"

namespace topwork {
namespace api {

// An object: "n_examples", "loss"; where there are classes "accuracy", "top1", "top5",
// "macro_precision", "macro_recall", "macro_f1", "calibration_error", "reliability" (bins of
// "n_examples", "confidence", "accuracy"), "classes" (objects of "name", "n_examples",
// "n_predicted", "precision", "recall", "f1"), "confusion" (rows are labels); for several classes
// an example also "exact_match" and "mean_average_precision"; for regression "regression" and
// "outputs" (objects of "mae", "rmse", "r2"); "worst": objects of "index", "label", "predicted",
// "loss".
std::string EvaluationJson(const Evaluation& evaluation, const std::vector<std::string>& names,
                           const std::vector<WorstExample>& worst);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_EVALUATION_JSON_H_
