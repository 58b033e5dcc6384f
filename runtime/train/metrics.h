// Metrics of a classifier: loss, top-k accuracy, confusion matrix, per-class precision and recall.
#ifndef TOPWORK_RUNTIME_TRAIN_METRICS_H_
#define TOPWORK_RUNTIME_TRAIN_METRICS_H_

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace topwork {

// One pass over the training examples.
struct EpochMetrics {
  int epoch = 0;  // counted from 1
  int n_epochs = 0;
  int64_t step = 0;             // optimizer steps since the start of training
  double train_loss = 0.0;      // means over the epoch's batches, each before its own update
  double train_accuracy = 0.0;  // likewise
  bool has_validation = false;
  double validation_loss = 0.0;  // after the epoch's last update
  double validation_accuracy = 0.0;
  double seconds = 0.0;
};

struct ClassMetrics {
  int64_t n_examples = 0;   // of this class
  int64_t n_predicted = 0;  // examples taken for this class
  double precision = 0.0;   // 0 when nothing was predicted to be of this class
  double recall = 0.0;      // 0 when there are no examples of it
  double f1 = 0.0;
};

// A confusion matrix of more classes would take over 128 MiB and nobody could read it.
constexpr int kMaxConfusionClasses = 4096;

struct Evaluation {
  int64_t n_examples = 0;
  int n_classes = 0;
  double loss = 0.0;  // mean cross-entropy
  double top1 = 0.0;  // share of the examples, in [0, 1]
  double top5 = 0.0;  // 1 when there are 5 classes or fewer
  std::vector<ClassMetrics> classes;
  // [n_classes, n_classes]: rows true, columns predicted. Empty beyond kMaxConfusionClasses.
  std::vector<int64_t> confusion;
};

// Collects examples one at a time. Ties go to the class of the lower index. Not thread-safe.
class MetricsCollector {
 public:
  explicit MetricsCollector(int n_classes);
  // n_classes scores and the true class in [0, n_classes).
  void AddLogits(const float* logits, int label);
  void AddProbabilities(const float* probabilities, int label);
  // Undefined values: 0 for no examples.
  Evaluation Finish() const;

 private:
  void Count(const float* scores, int label);
  int n_classes_;
  int64_t n_ = 0;
  int64_t n_top1_ = 0;
  int64_t n_top5_ = 0;
  double loss_ = 0.0;
  std::vector<int64_t> n_of_class_, n_predicted_, n_correct_;
  std::vector<int64_t> confusion_;
};

// −log softmax(logits)[label], computed as log Σ exp(z − max) + max − z[label].
double CrossEntropy(const float* logits, int n_classes, int label);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_METRICS_H_
