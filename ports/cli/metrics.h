// Judging a classifier: what `train` and `evaluate` print and report.
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
  double precision = 0.0;  // of the examples called this, how many are; 0 when none was called this
  double recall = 0.0;     // of this class's examples, how many were found
};

struct Evaluation {
  int64_t n_examples = 0;
  // Mean cross-entropy, natural logarithm, over the examples whose class the model has; no number
  // when it has none of them.
  double loss = 0.0;
  double top1 = 0.0;
  double top5 = 0.0;
  std::vector<std::string> class_names;
  // confusion[label * (n + 1) + predicted]: n classes; the last column counts predictions that are
  // none of them (a model with more outputs than the data has classes).
  std::vector<int64_t> confusion;

  // What the model said of examples that it put into none of the data's classes, most frequent
  // first: its own names and how often.
  std::vector<std::pair<std::string, int64_t>> said_instead;

  size_t n_classes() const { return class_names.size(); }
  int64_t Count(size_t label, size_t predicted) const {
    return confusion[label * (n_classes() + 1) + predicted];
  }
  std::vector<ClassMetrics> PerClass() const;
};

Json EvaluationJson(const Evaluation& evaluation);
// Accuracy, the table per class, and the confusion matrix when it fits on a screen.
void PrintEvaluation(const Evaluation& evaluation);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_METRICS_H_
