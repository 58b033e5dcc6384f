// Judging a model's numbers against a data set, an example at a time: the library's judge (tw_judge),
// fed with what the data says of each example, and with names in its answer.
#ifndef TOPWORK_PORTS_CLI_JUDGE_H_
#define TOPWORK_PORTS_CLI_JUDGE_H_

#include <optional>
#include <string>
#include <vector>

#include "ports/cli/data/dataset.h"
#include "ports/cli/evaluation.h"

namespace topwork {
namespace cli {

struct JudgeOptions {
  tw_loss loss = TW_LOSS_SOFTMAX;
  int k = 5;                        // of top_k
  int32_t n_worst = 0;              // examples of the largest loss to keep
  std::vector<std::string> labels;  // the model's own names
  // Output that stands for each class or column; −1: the model does not have it (softmax only).
  std::vector<int64_t> match;
  float huber_delta = 1.0f;
  // Half a step of a quantized output, below which a probability was rounded to 0; 0 for others.
  double half_step = 0.0;
  // The quantization is the one that converters give to softmax: rounded, rows need not sum to 1.
  bool is_softmax_quantized = false;
};

// What the output's type says of probabilities: fills the last two.
void DescribeOutput(const tw_tensor_info& output, JudgeOptions* options);

class Judge {
 public:
  // `data` and `options` must outlive the judge.
  Judge(const Dataset& data, const JudgeOptions& options) : data_(data), options_(options) {}

  // Examples in order, each once. `numbers` as the Evaluator gives them.
  void Add(int64_t i, const std::vector<double>& numbers);
  // Call once, after the last. `worst`: n_worst examples or fewer, largest loss first.
  Evaluation Finish(std::vector<WorstExample>* worst);

 private:
  void Create(size_t n_scores);
  std::string NameOf(int64_t score) const;
  void NameSaidInstead(Evaluation* evaluation) const;
  WorstExample Named(const tw_worst_example& worst, const Evaluation& evaluation) const;
  template <typename IsIn>
  std::string NamesOf(const IsIn& is_in) const;

  const Dataset& data_;
  const JudgeOptions& options_;
  std::optional<tw::Judge> judge_;
  size_t n_columns_ = 0;
  // With n_worst and targets: [n_examples, n_columns], to be named.
  std::vector<float> scores_, targets_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_JUDGE_H_
