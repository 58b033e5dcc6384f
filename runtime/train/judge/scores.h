// Scores of a network on the examples of a cache, and what is computed from them alone.
#ifndef TOPWORK_RUNTIME_TRAIN_JUDGE_SCORES_H_
#define TOPWORK_RUNTIME_TRAIN_JUDGE_SCORES_H_

#include <vector>

#include "runtime/train/features/feature_cache.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/judge/calibration.h"
#include "runtime/train/training_context.h"

namespace topwork {

// Calls visit(index, n_outputs scores) for every index in its order.
Status ForEachScores(Trainable* network, const FeatureCache& cache, Span<const int32_t> indices,
                     WorkWatch* watch, FunctionRef<void(int32_t index, const float* scores)> visit);

// What the last layer reads of examples, head_dim() numbers each: pointers into the cache where that
// is what it holds, else into `scratch`.
Status HeadInputsOf(const TrainingContext& context, Span<const int32_t> examples,
                    std::vector<float>* scratch, std::vector<const float*>* out);

// Means over examples.
struct Measured {
  double loss = 0.0;  // weighted as in training, without label smoothing
  double accuracy = 0.0;
};

// Of examples of the trainer's own set with its network as it is.
Status MeasureExamples(const TrainingContext& context, Span<const int32_t> indices, Measured* out);

// The scores of examples of the trainer's own set, with what they should be.
struct KeptScores {
  std::vector<float> scores;  // [n, n_classes]
  std::vector<int32_t> labels;
  std::vector<const float*> values;

  Status Gather(const TrainingContext& context, Span<const int32_t> indices);
  Targets targets() const { return {labels.data(), values.data()}; }
  int64_t n() const { return static_cast<int64_t>(labels.size()); }
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_JUDGE_SCORES_H_
