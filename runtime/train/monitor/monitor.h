// Monitor: watches a model at work, and notices inputs of a new kind and changed class frequencies.
//
// It keeps a small reference of features: at most max_reference examples, half of them to be
// neighbours, half for calibration. A feature is scaled to length 1; one of more than 64 numbers is
// projected to 64 by random signs. The
// nonconformity score of an example is the distance to the n_neighbours-th nearest neighbour (Sun et
// al., "Out-of-distribution detection with deep nearest neighbors", 2022), and a ConformalMartingale
// tests it. The reference must not have shaped the features: those of a frozen backbone have not
// been shaped by the trainer's examples. One thread at a time.
#ifndef TOPWORK_RUNTIME_TRAIN_MONITOR_MONITOR_H_
#define TOPWORK_RUNTIME_TRAIN_MONITOR_MONITOR_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/train/features/sign_projection.h"
#include "runtime/train/monitor/class_frequencies.h"
#include "runtime/train/monitor/martingale.h"

namespace topwork {

struct MonitorOptions {
  int64_t n_features = 0;
  std::vector<double>
      frequencies;  // of the classes in training, sum 1; empty: scores are not watched
  int64_t n_neighbours = 3;
  int64_t window = 200;            // examples, of both tests
  double false_alarm_rate = 0.01;  // share of windows without change that may give an alarm, (0, 1)
  uint64_t seed = 1;
  int64_t max_reference = 1000;
};

struct MonitorReport {
  int64_t n_examples = 0;
  double p_value = 1.0;   // of the last example
  double evidence = 0.0;  // log10 of the martingale
  bool is_alarm = false;  // it passed 1 / false_alarm_rate in the present window or the one before
  int64_t n_windows = 0;  // begun
  int64_t n_alarms = 0;   // windows in which it did
  int64_t first_alarm = -1;  // position of the example at which it first did
  ClassFrequencies classes;  // of the last `window` examples; empty without scores
};

class Monitor {
 public:
  // `row(i)`: feature i of n. INVALID_ARGUMENT for options out of range, or too few examples: twice
  // as many as neighbours, and 10 more.
  static Result<std::unique_ptr<Monitor>> Create(const MonitorOptions& options, int64_t n,
                                                 FunctionRef<const float*(int64_t i)> row);
  // A monitor that has not watched anything yet. IO, CORRUPT, UNSUPPORTED.
  static Result<std::unique_ptr<Monitor>> Open(const std::string& path);
  // Options and reference, not what was watched. IO.
  Status Save(const std::string& path) const;

  const MonitorOptions& options() const { return options_; }
  int64_t n_classes() const { return static_cast<int64_t>(options_.frequencies.size()); }

  // Watches one example: n_features numbers, and n_classes() probabilities or logits; either may be
  // null. NUMERIC when a number is not finite; nothing is watched then.
  Status Add(const float* features, const float* scores);
  MonitorReport Report() const;
  // n_classes() probabilities, or logits, as probabilities that fit the frequencies of the last
  // examples.
  void Correct(const float* scores, float* out) const;

 private:
  explicit Monitor(const MonitorOptions& options);
  void SetReference(std::vector<float> neighbours, std::vector<double> calibration);
  std::vector<float> Project(const float* features) const;
  double Score(const std::vector<float>& projected) const;
  void NoteEvidence();

  MonitorOptions options_;
  const SignProjection projection_;
  std::vector<float> neighbours_;  // [n, projection_.width()]
  std::unique_ptr<ConformalMartingale> martingale_;
  MonitorReport report_;
  bool alarm_now_ = false, alarm_before_ = false;  // of the present window and the one before
  std::vector<float> probabilities_;               // of the last examples, a ring of `window` rows
  int64_t n_scores_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_MONITOR_MONITOR_H_
