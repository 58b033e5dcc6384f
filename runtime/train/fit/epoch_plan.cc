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
  return LayOut(state->progress, &state->order, &state->next_random_state);
}

#ifndef TW_NO_LEARN
void EpochPlan::KeepOrder(TrainingValues* values) const {
  const TrainingState& state = *context_.state;
  if (state.order.empty()) return;
  const Status same = LayOut(state.progress, &values->order, &values->next_random_state);
  if (same.ok() && values->order == state.order &&
      values->next_random_state == state.next_random_state) {
    values->order.clear();
    values->next_random_state = 0;
    return;
  }
  values->order = state.order;
  values->next_random_state = state.next_random_state;
}
#endif

Status EpochPlan::LayOut(const TrainingProgress& progress, std::vector<int32_t>* out_order,
                         uint64_t* out_next_random_state) const {
  const size_t n_train = context_.set->train().size();
  Random random(progress.random_state);
  const size_t epoch = static_cast<size_t>(progress.epoch);
  std::vector<int32_t>& order = *out_order;
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
  *out_next_random_state = random.state();
  return Status::Ok();
}

// Draws from the smaller classes until each counts as many as the largest. Points of SMOTE are
// written as −1 − position.
void EpochPlan::AddMinorities(Random* random, std::vector<int32_t>* order) const {
  const Balance balance = context_.options->balance_classes;
  if (balance != Balance::kRepeat && balance != Balance::kSmote) return;
  const FeatureCache& cache = context_.set->cache();
  const std::vector<int32_t>& train = context_.set->train();
  const size_t largest = static_cast<size_t>(LargestClass());
  std::vector<int32_t> members;
  for (int c = 0; c < context_.n_classes(); ++c) {
    members.clear();
    for (size_t i = 0; i < train.size(); ++i) {
      if (cache.label(train[i]) == c) members.push_back(static_cast<int32_t>(i));
    }
    // Every member once more before one comes twice.
    for (size_t n = members.size(), k = n; n > 0 && k < largest; ++k) {
      if (k % n == 0) random->Shuffle(&members);
      order->push_back(balance == Balance::kSmote ? -1 - members[k % n] : members[k % n]);
    }
  }
}

// Training examples of the class that has most of them; *out_n_present: classes that have any.
int64_t EpochPlan::LargestClass(int64_t* out_n_present) const {
  std::vector<int64_t> counts(static_cast<size_t>(context_.n_classes()), 0);
  for (int32_t i : context_.set->train()) {
    ++counts[static_cast<size_t>(context_.set->cache().label(i))];
  }
  int64_t largest = 0, n_present = 0;
  for (int64_t count : counts) {
    largest = std::max(largest, count);
    n_present += count > 0 ? 1 : 0;
  }
  if (out_n_present != nullptr) *out_n_present = n_present;
  return largest;
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
  // The nearest, in order: an insertion sort of few.
  int32_t near[kNeighbours] = {};
  double squares[kNeighbours] = {};
  size_t n_near = 0;
  for (int32_t i : others) {
    const float* row = cache.row(i, 0, scratch.data() + scratch.size() / 2);
    double square = 0.0;
    for (int64_t d = 0; d < cache.dim(); ++d) {
      const double delta = static_cast<double>(row[d]) - static_cast<double>(own[d]);
      square += delta * delta;
    }
    if (n_near == kNeighbours && square >= squares[n_near - 1]) continue;
    size_t k = n_near < kNeighbours ? n_near++ : n_near - 1;
    for (; k > 0 && squares[k - 1] > square; --k) {
      squares[k] = squares[k - 1];
      near[k] = near[k - 1];
    }
    squares[k] = square;
    near[k] = i;
  }
  *out_share = static_cast<float>(random.Uniform());
  return near[random.Below(n_near)];
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
    int64_t n_present = 0;
    const int64_t largest = LargestClass(&n_present);
    n = n_present * largest;
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
