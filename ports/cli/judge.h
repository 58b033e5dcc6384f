// Judging a model's numbers against the truth, an example at a time. The definitions are those of
// runtime/train/judge/metrics.h, so that `train` and `evaluate` agree.
#ifndef TOPWORK_PORTS_CLI_JUDGE_H_
#define TOPWORK_PORTS_CLI_JUDGE_H_

#include <memory>
#include <string>
#include <vector>

#include "ports/cli/dataset.h"
#include "ports/cli/metrics.h"

namespace topwork {
namespace cli {

struct JudgeOptions {
  std::string kind = "softmax";     // softmax, sigmoid, mse or huber
  int k = 5;                        // of top_k
  int64_t n_worst = 0;              // examples of the largest loss to keep
  std::vector<std::string> labels;  // the model's own names
  // One output for two classes: the score of the second.
  bool single_output = false;
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
  virtual ~Judge() = default;
  // Examples in order, each once. `numbers` as the Evaluator gives them.
  virtual void Add(int64_t i, const std::vector<double>& numbers) = 0;
  // Call once, after the last. `worst`: n_worst examples or fewer, largest loss first.
  virtual Evaluation Finish(std::vector<WorstExample>* worst) = 0;
};

// `data` and `options` must outlive the judge. Scores are probabilities when all of the data lie in
// [0, 1] (softmax: and each row sums to 1), else logits.
std::unique_ptr<Judge> MakeClassJudge(const Dataset& data, const JudgeOptions& options);
std::unique_ptr<Judge> MakeDecisionJudge(const Dataset& data, const JudgeOptions& options);
std::unique_ptr<Judge> MakeErrorJudge(const Dataset& data, const JudgeOptions& options);

// What a probability of 0 is taken for in losses: half a step, else half of the smallest positive
// one that was seen, as models round inside, too.
class SmallestProbability {
 public:
  explicit SmallestProbability(double half_step) : half_step_(half_step) {}
  void Add(double probability) {
    if (probability > 0.0 && probability < smallest_) smallest_ = probability;
  }
  double value() const { return half_step_ > 0.0 ? half_step_ : 0.5 * smallest_; }

 private:
  double half_step_;
  double smallest_ = 1.0;
};

// Collects the examples of the largest loss; of equal ones the first.
class WorstList {
 public:
  explicit WorstList(int64_t n) : n_(static_cast<size_t>(n)) {}
  bool Wants(double loss) const;
  void Add(const WorstExample& example);
  std::vector<WorstExample> Take();

 private:
  size_t n_;
  std::vector<WorstExample> worst_;  // sorted
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_JUDGE_H_
