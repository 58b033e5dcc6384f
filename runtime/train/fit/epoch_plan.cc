// The order, the variants and the learning rates of an epoch.
#include "runtime/train/fit/epoch_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/train/random.h"

namespace topwork {

void EpochPlan::SetPermutations(std::vector<std::vector<int32_t>> permutations) {
  permutations_ = std::move(permutations);
}

Status EpochPlan::StartEpoch(size_t n_train, TrainingState* state) const {
  const TrainingProgress& progress = state->progress;
  Random random(progress.random_state);
  const size_t epoch = static_cast<size_t>(progress.epoch);
  std::vector<int32_t>& order = state->order;
  if (epoch < permutations_.size()) {
    order = permutations_[epoch];
    const auto out_of_range = [&](int32_t i) { return i < 0 || static_cast<size_t>(i) >= n_train; };
    if (order.empty() || std::any_of(order.begin(), order.end(), out_of_range)) {
      order.clear();
      return InvalidArgument("the permutation of epoch {} does not fit {} training examples",
                             progress.epoch + 1, n_train);
    }
  } else {
    order.resize(n_train);
    std::iota(order.begin(), order.end(), 0);
    random.Shuffle(&order);
  }
  state->next_random_state = random.state();
  return Status::Ok();
}

ExampleRows::Item EpochPlan::ItemAt(size_t position) const {
  const TrainingState& state = *context_.state;
  const int32_t example = context_.set->train()[static_cast<size_t>(state.order[position])];
  const int n_variants = context_.set->cache().n_variants();
  if (n_variants == 0) return {example, 0};
  Random random(context_.options->seed ^ (static_cast<uint64_t>(state.progress.epoch) << 32) ^
                static_cast<uint64_t>(example));
  return {example, static_cast<int>(random.Below(static_cast<uint64_t>(n_variants) + 1))};
}

int64_t EpochPlan::EpochSteps() const {
  if (!IsFirstOrder(context_.options->optimizer)) return 1;
  const int64_t n = static_cast<int64_t>(context_.set->train().size());
  const int64_t batch_size = context_.options->batch_size;
  return (n + batch_size - 1) / batch_size;
}

// Adam's chosen rate is high, so that few steps go far, and falls to 0 so that they end calmly.
ScheduleOptions EpochPlan::ScheduleInForce() const {
  const TrainerOptions& options = *context_.options;
  ScheduleOptions schedule = options.schedule;
  const bool chosen = options.learning_rate == 0.0f && options.optimizer != Optimizer::kSgd;
  if (chosen && context_.layers->only_last() && schedule.schedule == Schedule::kConstant) {
    schedule.schedule = Schedule::kCosine;
  }
  return schedule;
}

double EpochPlan::LearningRateAt(int64_t step) const {
  const TrainingState& state = *context_.state;
  const int64_t n_steps = std::max<int64_t>(1, EpochSteps() * context_.options->epochs);
  return static_cast<double>(state.learning_rate) *
         ScheduleFactor(ScheduleInForce(), step, state.progress.epoch, n_steps);
}

}  // namespace topwork
