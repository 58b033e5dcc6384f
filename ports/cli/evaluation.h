// How well a model does: the library's numbers with the names of the data's classes, as `train` and
// `evaluate` print and report them.
#ifndef TOPWORK_PORTS_CLI_EVALUATION_H_
#define TOPWORK_PORTS_CLI_EVALUATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct Evaluation : tw::Evaluation {
  int k = 5;  // of top_k
  std::vector<std::string> class_names;
  std::map<int32_t, std::string> group_names;  // those not in it are called by their number
  // What the model said of examples that it put into none of the data's classes, most frequent
  // first: its own names and how often.
  std::vector<std::pair<std::string, int64_t>> said_instead;

  bool is_regression() const { return kind == TW_LOSS_MSE || kind == TW_LOSS_HUBER; }
  size_t size() const { return class_names.size(); }  // classes
  std::string GroupName(int32_t group) const {
    const auto found = group_names.find(group);
    return found != group_names.end() ? found->second : std::to_string(group);
  }
  // How often a class was taken for another one; predicted = size(): for none of them. Only with a
  // matrix.
  int64_t Count(size_t label, size_t predicted) const {
    return predicted < size() ? matrix[label * size() + predicted] : per_class[label].n_elsewhere;
  }
};

// An example that the model does badly on.
struct WorstExample {
  std::string name;              // "digit_3/0012.png"
  std::string label, predicted;  // names of classes, or numbers
  double loss = 0.0;
};

// "softmax", "sigmoid", "mse", "huber", and back.
const char* LossName(tw_loss loss);
tw_loss LossOf(const std::string& name);

Json EvaluationJson(const Evaluation& evaluation);
Json WorstJson(const std::vector<WorstExample>& worst);
// Accuracy, the table per class, and the confusion matrix when it fits on a screen.
void PrintEvaluation(const Evaluation& evaluation);
void PrintWorst(const std::vector<WorstExample>& worst);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_EVALUATION_H_
