// Metrics of a model's scores against the truth, one example at a time.
//
//   softmax      loss, top-1/5/k, precision, recall and F1 per class, confusion matrix, calibration
//   sigmoid      loss, the same per output at probability 0.5, average precision, exact matches
//   mse, huber   loss, MAE, RMSE and R², overall and per output
// Undefined values (0 / 0) are 0, as in scikit-learn with zero_division=0. The loss here is that of
// the data: label smoothing, class weights and penalties are the training's and left out.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_METRICS_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_METRICS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/train/fit/loss.h"

namespace topwork {

// Of a class (softmax) or of an output (sigmoid).
struct ClassMetrics {
  int64_t n_examples = 0;   // of this class
  int64_t n_predicted = 0;  // examples taken for this class
  double precision = 0.0;   // 0 when nothing was predicted to be of this class
  double recall = 0.0;      // 0 when there are no examples of it
  double f1 = 0.0;
  // Sigmoid only: Σ (R_n − R_{n−1}) P_n over the examples in the order of their scores, equal
  // scores taken together (scikit-learn's average_precision_score).
  double average_precision = 0.0;
  // Softmax, with a ScoreMap: examples of this class whose largest score is that of no class.
  int64_t n_elsewhere = 0;
};

// Examples (softmax) or decisions (sigmoid) whose confidence lies in (m / n, (m + 1) / n].
struct ReliabilityBin {
  int64_t n_examples = 0;
  double confidence = 0.0;  // mean
  double accuracy = 0.0;    // share that was right
};
constexpr int kReliabilityBins = 15;

// How well confidences tell the share of right answers.
class Reliability {
 public:
  void Add(double confidence, bool right);
  std::vector<ReliabilityBin> Bins() const;  // kReliabilityBins of equal width
  // Expected calibration error: Σ_m n_m / n · |accuracy_m − confidence_m|, in [0, 1].
  double Error() const;

 private:
  int64_t n_[kReliabilityBins] = {};
  int64_t n_right_[kReliabilityBins] = {};
  double confidence_[kReliabilityBins] = {};
};

struct RegressionMetrics {
  double mae = 0.0;
  double rmse = 0.0;
  double r2 = 0.0;  // 1 − Σ(z − t)² / Σ(t − mean t)²; constant targets: 1 when all met, else 0
};

// Of the examples of a group.
struct GroupMetrics {
  int32_t group = 0;
  int64_t n_examples = 0;
  double accuracy = 0.0;  // as Evaluation::accuracy
  double loss = 0.0;      // regression: mean; else 0
};

// A confusion matrix of more classes would take over 128 MiB and nobody could read it.
constexpr int kMaxConfusionClasses = 4096;

struct Evaluation {
  // Defined once: they are long, and the compiler would write them out wherever one is made.
  Evaluation();
  ~Evaluation();
  Evaluation(Evaluation&&) noexcept;
  Evaluation& operator=(Evaluation&&) noexcept;
  Evaluation(const Evaluation&);
  Evaluation& operator=(const Evaluation&);

  Loss kind = Loss::kSoftmaxCrossEntropy;  // tells which of the following hold anything
  int64_t n_examples = 0;
  int n_classes = 0;  // or outputs
  double loss = 0.0;  // mean over the examples whose class has a score; NaN where none has one
  // The share of right answers, in [0, 1]: softmax top1, sigmoid that of all decisions; regression
  // 0.
  double accuracy = 0.0;

  double top1 = 0.0;  // share of the examples, in [0, 1]
  double top5 = 0.0;  // 1 when there are 5 classes or fewer
  double top_k = 0.0;
  int k = 0;                          // the one asked for
  std::vector<ClassMetrics> classes;  // softmax, sigmoid
  // Means over the classes that have examples or were predicted.
  double macro_precision = 0.0, macro_recall = 0.0, macro_f1 = 0.0;
  // [n_classes, n_classes]: rows true, columns predicted. Empty beyond kMaxConfusionClasses.
  std::vector<int64_t> confusion;
  // Softmax, with a ScoreMap: how often each score was the largest.
  std::vector<int64_t> n_largest;
  // Softmax: the largest probability; sigmoid: max(p, 1 − p) of every decision.
  double calibration_error = 0.0;
  std::vector<ReliabilityBin> reliability;

  double exact_match = 0.0;             // sigmoid: share of the examples with every output right
  double mean_average_precision = 0.0;  // sigmoid: over the outputs that have examples

  RegressionMetrics regression;            // all outputs' errors together; the mean of their R²
  std::vector<RegressionMetrics> outputs;  // regression: one each
  // Where examples have groups: the worst first, by accuracy or, of regressions, by loss; of equal
  // ones the lower number.
  std::vector<GroupMetrics> groups;
};

// An example that the model does badly on, with its loss under the evaluation's formula.
struct WorstExample {
  int32_t index = 0;       // among the examples in the order in which they were added
  int32_t label = -1;      // −1 where the target is no class
  int32_t predicted = -1;  // the output of the largest score
  double loss = 0.0;
};

// Which score belongs to which class, where a model's classes are not those of the data.
struct ScoreMap {
  int n_scores = 0;                 // of an example
  std::vector<int> score_of_class;  // position of each class's score; −1: it has none
};

// The probability that stands for those that were rounded to 0, unless another one is given. It
// keeps their losses finite.
constexpr double kSmallestProbability = 1.17549435e-38;

// Numbers of a confusion matrix: 0 where an evaluation has none.
size_t ConfusionSize(Loss loss, int n_classes);

// Collects examples one at a time. Ties go to the class of the lower index. Not thread-safe.
// Sigmoid keeps n_outputs floats and bytes of every example; the others keep no examples.
// Each Add returns the loss of its example.
class MetricsCollector {
 public:
  // Classes, softmax.
  explicit MetricsCollector(int n_classes, int top_k = 5);
  // kSums: neither a confusion matrix nor an example, and Finish may not be called.
  enum class Keeps { kAll, kSums };
  // Any loss; of the options, the kind and huber_delta are looked at.
  MetricsCollector(const LossOptions& options, int n_outputs, int top_k = 5,
                   Keeps keeps = Keeps::kAll);
  // Softmax; the examples' scores are map.n_scores numbers. Ties go to the lower score.
  MetricsCollector(const ScoreMap& map, int top_k);

  // Softmax: n_classes scores and the true class in [0, n_classes). The loss of an example whose
  // class has no score is NaN, and left out of the mean.
  double AddLogits(const float* logits, int label);
  // A probability of 0 has an infinite loss here; Finish knows what stands for it.
  double AddProbabilities(const float* probabilities, int label);
  // Sigmoid: logits, and targets that count as positive from 0.5; regression: predictions and
  // targets. n_outputs floats each.
  double AddValues(const float* scores, const float* targets);
  // Sigmoid: probabilities in [0, 1], of which none counts as less than `smallest` in the loss.
  double AddDecisionProbabilities(const float* probabilities, const float* targets,
                                  double smallest);
  // Row b's target by the kind of loss; `scores` as above.
  double Add(const float* scores, const Targets& targets, int64_t b);

  // The group of the example that was added last, and the loss that its Add returned. Called after
  // every Add or never; a group below 0 is none.
  void CountGroup(int32_t group, double loss);

  // Of the examples so far, see Evaluation.
  double calibration_error() const { return reliability_.Error(); }
  // smallest: what a probability of 0 counts as in the loss.
  Evaluation Finish(double smallest = kSmallestProbability) const;

 private:
  struct ErrorSums {
    double absolute = 0.0, squared = 0.0;
    double mean = 0.0, spread = 0.0;  // of the targets: running mean, Σ(t − mean)²
  };
  int n_scores() const { return has_map_ ? static_cast<int>(class_of_score_.size()) : n_classes_; }
  // The position of the class's score; −1: it has none.
  int ScoreOf(int label) const;
  void Count(const float* scores, double confidence, int label);
  void CountRank(const float* scores, int target);
  double AddDecisions(const float* logits, const float* targets);
  void CountDecision(size_t output, bool positive, bool predicted, double confidence);
  void KeepDecisions(const float* scores, const float* targets, bool exact);
  double AddErrors(const float* predictions, const float* targets);
  void FinishClasses(Evaluation* result) const;
  void FinishDecisions(Evaluation* result) const;
  void FinishErrors(Evaluation* result) const;
  double AveragePrecision(size_t output) const;
  void FinishGroups(Evaluation* result) const;

  Loss kind_;
  float huber_delta_;
  int n_classes_;
  int top_k_;
  Keeps keeps_ = Keeps::kAll;
  bool has_map_ = false;
  std::vector<int> score_of_class_, class_of_score_;  // of the map
  std::vector<int64_t> n_elsewhere_, n_largest_;
  int64_t n_ = 0;
  int64_t n_without_loss_ = 0;  // examples whose class has no score
  int64_t n_zero_ = 0;          // examples whose class has the probability 0
  int64_t n_top1_ = 0, n_top5_ = 0, n_top_k_ = 0;
  int64_t n_exact_ = 0;
  double loss_ = 0.0;
  Reliability reliability_;
  std::vector<int64_t> n_of_class_, n_predicted_, n_correct_;
  std::vector<int64_t> confusion_;
  std::vector<float> kept_scores_;          // sigmoid: [n, n_outputs]
  std::vector<uint8_t> kept_positives_;     // likewise
  std::vector<ErrorSums> errors_;           // regression: one per output
  std::vector<GroupMetrics> groups_;        // accuracy: right answers; loss: their sum
  std::map<int64_t, int64_t> group_index_;  // into groups_
  int64_t n_right_before_ = 0;              // n_top1_ at the last CountGroup
};

// −log softmax(logits)[label], computed as log Σ exp(z − max) + max − z[label].
double CrossEntropy(const float* logits, int n_classes, int label);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_METRICS_H_
