// Judge: how good a trainer's head is: evaluation, prediction, calibration, the golden set, and
// what storing it costs.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_JUDGE_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_JUDGE_H_

#include <functional>
#include <memory>
#include <vector>

#include "kernels/contract/selection.h"
#include "runtime/train/features/near_duplicates.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/judge/jackknife.h"
#include "runtime/train/judge/metrics.h"
#include "runtime/train/training_context.h"

namespace topwork {

// The new head, as an export stores it, against the shipped one on the kept set.
struct GoldenResult {
  int64_t n_examples = 0;
  double shipped = 0.0;  // top-1 accuracy; regression and sigmoid: minus the mean loss
  double trained = 0.0;
  bool passed = false;  // trained ≥ shipped
};

// What storing the head in the model's own types does to it.
struct ExportCheck {
  int64_t n_examples = 0;
  double before = 0.0;  // as trained; accuracy or minus the mean loss, as in GoldenResult
  double after = 0.0;   // as the exported model computes it
};

// How intervals do on examples that had no part in them.
struct IntervalCheck {
  int64_t n_examples = 0;
  double coverage = 0.0;    // share of the targets inside
  double mean_width = 0.0;  // infinite where there are too few examples
};

class Judge {
 public:
  explicit Judge(const TrainingContext& context) : context_(context) {}

  // Judgements of the trainer's own examples (ExampleSet) are those of the head before the last
  // fit, which has not seen the validation examples; all others are those of the head that is
  // exported.
  Result<Evaluation> Evaluate(ExampleSet set);
  // Features of these examples are computed and not kept.
  Result<Evaluation> Evaluate(const Examples& examples, const FeatureProgress& progress = nullptr);
  // Scores of examples as the exported model would give them (probabilities after softmax and
  // sigmoid losses): [examples.count, n_classes]. Targets are not looked at.
  Status Predict(const Examples& examples, float* out_scores);
  // The same one by one, with each example's feature row; `visit` ends it by a failure.
  Status Visit(const Examples& examples,
               FunctionRef<Status(const float* features, const float* scores)> visit);
  // The `count` examples of the set with the largest loss, worst first.
  Result<std::vector<WorstExample>> Worst(ExampleSet set, int count);
  // Intervals around the predictions of a regression's head that ridge regression has fitted to all
  // examples (JackknifePlus): [examples.count, n_classes] each. FAILED_PRECONDITION for other heads.
  Status PredictIntervals(const Examples& examples, double coverage, float* lower, float* upper);
  // The same from the training examples alone, on the validation examples.
  Result<IntervalCheck> CheckIntervals(double coverage);

  // Across the split. FAILED_PRECONDITION without validation examples.
  Result<NearDuplicates> FindNearDuplicates();
  // Chooses the temperature that scores are divided by (evaluation, prediction, export) so that
  // confidences are right on the validation examples; softmax and sigmoid losses. Training sets it
  // back to 1.
  Result<Calibration> Calibrate();

  // A kept set that an export must not do worse on than the shipped head. Classes are matched by
  // name with the model's labels, or by index where there are no names.
  Status SetGolden(const Examples& examples, const FeatureProgress& progress = nullptr);
  bool has_golden() const { return kHasJudge && golden_ != nullptr; }
  size_t golden_bytes() const { return golden_ != nullptr ? golden_->bytes() : 0; }
  // FAILED_PRECONDITION without a golden set.
  Result<GoldenResult> CheckGolden();
  // Classes have changed: see KeepClasses. The golden set is given up when
  // nothing of it is left, or no class that the shipped head knows.
  void ChangeClasses(const ClassSources& sources);

  // Accuracy before and after storing; kValidation means all where no example is held back.
  Result<ExportCheck> CheckExport(ExampleSet set);

 private:
  Result<Evaluation> EvaluateRows(const FeatureCache& cache, Span<const int32_t> indices);
  Result<double> Quality(Trainable* network, const FeatureCache& cache, Span<const int32_t> indices,
                         const std::vector<int>& class_map,
                         const std::function<void(float* scores)>& change = nullptr);
  Result<double> ExportedQuality(const FeatureCache& cache, Span<const int32_t> indices);
  Result<JackknifePlus> Jackknife(Span<const int32_t> examples, double coverage) const;
  void RoundShippedScores(float* scores) const;
  bool KnowsShippedClass() const;

  const TrainingContext context_;
  std::unique_ptr<FeatureCache> golden_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_JUDGE_H_
