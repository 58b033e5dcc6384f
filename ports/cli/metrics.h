// Judging a model: what `train` and `evaluate` print and report.
#ifndef TOPWORK_PORTS_CLI_METRICS_H_
#define TOPWORK_PORTS_CLI_METRICS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct ClassMetrics {
  std::string name;
  int64_t n_examples = 0;
  int64_t n_predicted = 0;
  double precision = 0.0;  // of the examples called this, how many are; 0 when none was called this
  double recall = 0.0;     // of this class's examples, how many were found
  double f1 = 0.0;
  double average_precision = 0.0;  // several classes an example only
};

// Examples whose confidence lies in one fifteenth of [0, 1].
struct ReliabilityBin {
  int64_t n_examples = 0;
  double confidence = 0.0;
  double accuracy = 0.0;
};

// One output of a regression.
struct OutputMetrics {
  std::string name;
  double mae = 0.0;
  double rmse = 0.0;
  double r2 = 0.0;
};

struct Evaluation {
  // "softmax": one class an example; "sigmoid": any number; "mse", "huber": regression.
  std::string kind = "softmax";
  int64_t n_examples = 0;
  // Mean cross-entropy, natural logarithm, over the examples whose class the model has (no number
  // when it has none of them), or mean squared or Huber error.
  double loss = 0.0;
  double top1 = 0.0;
  double top5 = 0.0;
  int k = 5;
  double top_k = 0.0;
  std::vector<std::string> class_names;
  // confusion[label * (n + 1) + predicted]: n classes; the last column counts predictions that are
  // none of them (a model with more outputs than the data has classes). Empty for very many.
  std::vector<int64_t> confusion;

  // What the model said of examples that it put into none of the data's classes, most frequent
  // first: its own names and how often.
  std::vector<std::pair<std::string, int64_t>> said_instead;

  // Expected calibration error and its bins; none where there are no probabilities.
  double calibration_error = 0.0;
  std::vector<ReliabilityBin> reliability;

  // Several classes an example: share of right decisions, of examples with every decision right.
  double accuracy = 0.0;
  double exact_match = 0.0;
  double mean_average_precision = 0.0;
  // One a class; softmax: may be empty where there is a confusion matrix.
  std::vector<ClassMetrics> decisions;

  OutputMetrics overall;  // regression
  std::vector<OutputMetrics> outputs;

  bool is_regression() const { return kind == "mse" || kind == "huber"; }
  size_t n_classes() const { return class_names.size(); }
  int64_t Count(size_t label, size_t predicted) const {
    return confusion[label * (n_classes() + 1) + predicted];
  }
  std::vector<ClassMetrics> PerClass() const;
};

// An example that the model does badly on.
struct WorstExample {
  std::string name;              // "digit_3/0012.png"
  std::string label, predicted;  // names of classes, or numbers
  double loss = 0.0;
};

// Precision, recall and F1 from the counts and how many of the class were found.
void FinishClass(int64_t n_right, ClassMetrics* metrics);

// Sorts confidences into fifteen bins of equal width.
class Reliability {
 public:
  void Add(double confidence, bool right);
  // Fills the evaluation's calibration_error and reliability.
  void Finish(Evaluation* evaluation) const;

 private:
  std::vector<ReliabilityBin> bins_ = std::vector<ReliabilityBin>(15);  // sums
};

// The mean over the classes that have examples or were said.
ClassMetrics MacroMean(const std::vector<ClassMetrics>& classes);

Json EvaluationJson(const Evaluation& evaluation);
Json WorstJson(const std::vector<WorstExample>& worst);
// Accuracy, the table per class, and the confusion matrix when it fits on a screen.
void PrintEvaluation(const Evaluation& evaluation);
void PrintWorst(const std::vector<WorstExample>& worst);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_METRICS_H_
