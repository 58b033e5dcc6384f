// EpochPlan: which examples an epoch takes in which order, and at what learning rate.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_EPOCH_PLAN_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_EPOCH_PLAN_H_

#include <vector>

#include "runtime/train/features/example_rows.h"
#include "runtime/train/random.h"
#include "runtime/train/training_context.h"

namespace topwork {

// All of it follows from the seed, the epoch and the step, so that a resumed run agrees.
class EpochPlan {
 public:
  explicit EpochPlan(const TrainingContext& context) : context_(context) {}

  // The batches of the next epochs in place of the shuffle: one permutation of the training
  // examples' positions each.
  void SetPermutations(std::vector<std::vector<int32_t>> permutations);
  bool has_permutations() const { return !permutations_.empty(); }

  // Lays out state->order for the training examples.
  Status StartEpoch(TrainingState* state) const;
  // Writes the order of the epoch in progress where StartEpoch would lay out another one now: examples
  // of a bounded memory were replaced since it did.
  void KeepOrder(TrainingValues* values) const;
  // The example at a position of the order in progress, and which of its variants it is in this
  // epoch (0: itself). Of a point of SMOTE: the example that it starts from.
  ExampleRows::Item ItemAt(size_t position) const;
  // The training example that a point of SMOTE goes towards, and how far; −1 where the position is
  // of an example itself.
  int32_t NeighbourAt(size_t position, float* out_share) const;
  // Steps of an epoch over the training examples there are now.
  int64_t EpochSteps() const;
  // Of step number `step` (from 0), in the epoch in progress.
  double LearningRateAt(int64_t step) const;

 private:
  Status LayOut(const TrainingProgress& progress, std::vector<int32_t>* out_order,
                uint64_t* out_next_random_state) const;
  int64_t LargestClass(int64_t* out_n_present = nullptr) const;
  void AddMinorities(Random* random, std::vector<int32_t>* order) const;
  ScheduleOptions ScheduleInForce() const;

  const TrainingContext context_;
  std::vector<std::vector<int32_t>> permutations_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_EPOCH_PLAN_H_
