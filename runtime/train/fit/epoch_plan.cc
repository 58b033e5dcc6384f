// The order, the variants and the learning rates of an epoch.
#include "runtime/train/fit/epoch_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/train/random.h"

namespace topwork {
namespace {

// SMOTE goes towards one of the so many nearest, among so many of a class.
constexpr size_t kNeighbours = 5;
constexpr size_t kMostNeighbours = 256;

}  // namespace

void EpochPlan::SetPermutations(std::vector<std::vector<int32_t>> permutations) {
  permutations_ = std::move(permutations);
}

Status EpochPlan::StartEpoch(TrainingState* state) const {
  const size_t n_train = context_.set->train().size();
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
    AddMinorities(&random, &order);
    random.Shuffle(&order);
  }
  state->next_random_state = random.state();
  return Status::Ok();
}

// Draws from the smaller classes until each counts as many as the largest. Points of SMOTE are
// written as −1 − position.
void EpochPlan::AddMinorities(Random* random, std::vector<int32_t>* order) const {
  const Balance balance = context_.options->balance_classes;
  if (balance != Balance::kRepeat && balance != Balance::kSmote) return;
  std::vector<std::vector<int32_t>> members(static_cast<size_t>(context_.n_classes()));
  size_t largest = 0;
  const std::vector<int32_t>& train = context_.set->train();
  for (size_t i = 0; i < train.size(); ++i) {
    auto& own = members[static_cast<size_t>(context_.set->cache().label(train[i]))];
    own.push_back(static_cast<int32_t>(i));
    largest = std::max(largest, own.size());
  }
  for (std::vector<int32_t>& own : members) {
    // Every member once more before one comes twice.
    for (size_t n = own.size(), k = n; n > 0 && k < largest; ++k) {
      if (k % n == 0) random->Shuffle(&own);
      order->push_back(balance == Balance::kSmote ? -1 - own[k % n] : own[k % n]);
    }
  }
}

int32_t EpochPlan::NeighbourAt(size_t position, float* out_share) const {
  const TrainingState& state = *context_.state;
  if (state.order[position] >= 0) return -1;
  const FeatureCache& cache = context_.set->cache();
  const int32_t example = ItemAt(position).example;
  Random random(Random(context_.options->seed ^
                       (static_cast<uint64_t>(state.progress.epoch) << 32) ^
                       static_cast<uint64_t>(position))
                    .Next());
  std::vector<int32_t> others;
  for (int32_t i : context_.set->train()) {
    if (i != example && cache.label(i) == cache.label(example)) others.push_back(i);
  }
  if (others.empty()) return -1;
  if (others.size() > kMostNeighbours) random.Shuffle(&others);
  others.resize(std::min(others.size(), kMostNeighbours));
  std::vector<float> scratch(2 * cache.scratch_floats());
  const float* own = cache.row(example, 0, scratch.data());
  std::vector<std::pair<double, int32_t>> near;
  for (int32_t i : others) {
    const float* row = cache.row(i, 0, scratch.data() + scratch.size() / 2);
    double square = 0.0;
    for (int64_t d = 0; d < cache.dim(); ++d) {
      const double delta = static_cast<double>(row[d]) - static_cast<double>(own[d]);
      square += delta * delta;
    }
    near.emplace_back(square, i);
  }
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kNeighbours));
  *out_share = static_cast<float>(random.Uniform());
  return near[static_cast<size_t>(random.Below(near.size()))].second;
}

ExampleRows::Item EpochPlan::ItemAt(size_t position) const {
  const TrainingState& state = *context_.state;
  const int32_t place = state.order[position];
  const int32_t example =
      context_.set->train()[static_cast<size_t>(place < 0 ? -1 - place : place)];
  const int n_variants = context_.set->cache().n_variants();
  if (n_variants == 0) return {example, 0};
  Random random(context_.options->seed ^ (static_cast<uint64_t>(state.progress.epoch) << 32) ^
                static_cast<uint64_t>(example));
  return {example, static_cast<int>(random.Below(static_cast<uint64_t>(n_variants) + 1))};
}

int64_t EpochPlan::EpochSteps() const {
  if (!IsFirstOrder(context_.options->optimizer)) return 1;
  int64_t n = static_cast<int64_t>(context_.set->train().size());
  if (context_.options->balance_classes > Balance::kWeights) {
    std::vector<int64_t> counts(static_cast<size_t>(context_.n_classes()), 0);
    for (int32_t i : context_.set->train()) {
      ++counts[static_cast<size_t>(context_.set->cache().label(i))];
    }
    const int64_t n_present =
        std::count_if(counts.begin(), counts.end(), [](int64_t count) { return count > 0; });
    n = n_present * *std::max_element(counts.begin(), counts.end());
  }
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
