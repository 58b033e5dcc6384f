// ScoreJudge: a model's scores against the truth, where neither the model's classes need be those
// of the data nor anybody need say whether the scores are probabilities or logits.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_SCORE_JUDGE_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_SCORE_JUDGE_H_

#include <cstdint>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/train/judge/metrics.h"

namespace topwork {

// The numbers are those of `tw_score_kind` in the C API.
enum class ScoreKind : int {
  kUnknown = 0,  // probabilities when all lie in [0, 1] (softmax: and each row sums to 1 within
                 // 0.02), else logits
  kLogits = 1,
  kProbabilities = 2,
};

struct ScoreJudgeOptions {
  LossOptions loss;  // its kind and huber_delta are looked at
  ScoreKind kind = ScoreKind::kUnknown;
  int n_classes = 0;  // of the data; columns of the targets
  int n_scores = 0;   // of an example; one for two softmax classes: the score of the second
  // Position of the score of each class, −1 where it has none (softmax only); empty: in order. A
  // single score of two classes counts as two here.
  std::vector<int> score_of_class;
  int top_k = 5;
  int n_worst = 0;  // examples of the largest loss to keep
  // What a probability of 0 counts as in the loss. 0: half of the smallest positive one seen.
  double smallest_probability = 0.0;
};

// INVALID_ARGUMENT names what does not fit.
Status CheckJudgeOptions(const ScoreJudgeOptions& options);

struct ScoreEvaluation : Evaluation {
  bool are_probabilities = false;   // as which the scores were taken; regression: false
  std::vector<WorstExample> worst;  // largest loss first, of equal ones the first example
};

// Softmax keeps nothing of an example but for `worst`; a single score, sigmoid and their targets
// are kept, because a judgement needs them all. Not thread-safe.
class ScoreJudge {
 public:
  // `options` have passed CheckJudgeOptions.
  explicit ScoreJudge(const ScoreJudgeOptions& options);

  // n_scores numbers, none of them NaN. Softmax: the class, in [0, n_classes).
  Status AddLabel(const float* scores, int64_t label);
  // Sigmoid, regression: n_classes targets.
  Status AddTargets(const float* scores, const float* targets);
  // The group of the examples that are added from now on; below 0: none.
  void SetGroup(int32_t group) {
    group_ = group;
    has_groups_ = true;
  }
  int64_t n_examples() const { return n_; }

  // May be called at any time.
  ScoreEvaluation Finish() const;

 private:
  // What `worst` needs of an example.
  struct Seen {
    int32_t label, predicted;
    double loss_of_logits, loss_of_probabilities;
  };
  // One score for two classes.
  bool is_single() const {
    return options_.n_scores == 1 && options_.n_classes == 2 && UsesLabels(options_.loss.loss);
  }
  Status CheckScores(const float* scores);
  void NoteRange(const float* scores, int n_scores);
  void CountSoftmax(const float* scores, int32_t label);
  bool AreProbabilities() const;
  double Smallest() const;
  std::vector<WorstExample> Worst(bool probabilities) const;
  ScoreEvaluation FinishSingles() const;
  ScoreEvaluation FinishDecisions() const;

  ScoreJudgeOptions options_;
  int64_t n_ = 0;
  bool in_unit_ = true, sums_to_one_ = true;
  double smallest_seen_ = 1.0;
  MetricsCollector as_logits_, as_probabilities_;  // softmax; regression: the first
  std::vector<Seen> seen_;
  std::vector<float> kept_scores_, kept_targets_;  // singles; sigmoid [n, n_classes]
  std::vector<int32_t> kept_labels_;               // singles
  std::vector<int32_t> kept_groups_;               // of what is kept
  int32_t group_ = -1;
  bool has_groups_ = false;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_SCORE_JUDGE_H_
