// The trainer's loop: epochs, mini-batches, schedules and early stopping.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ports/port.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/random.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

constexpr size_t kMeasureRows = 256;
constexpr size_t kMeasureFloats = size_t{1} << 18;  // of rows that are converted

}  // namespace

Status Trainer::StartEpoch() {
  const size_t n = train_.size();
  Random random(progress_.random_state);
  const size_t epoch = static_cast<size_t>(progress_.epoch);
  std::vector<int32_t>& order = progress_.order;
  if (epoch < permutations_.size()) {
    order = permutations_[epoch];
    const auto out_of_range = [&](int32_t i) { return i < 0 || static_cast<size_t>(i) >= n; };
    if (order.empty() || std::any_of(order.begin(), order.end(), out_of_range)) {
      order.clear();
      return InvalidArgument("the permutation of epoch %d does not fit %zu training examples",
                             progress_.epoch + 1, n);
    }
  } else {
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
    random.Shuffle(&order);
  }
  progress_.next_random_state = random.state();
  return Status::Ok();
}

// Which of its variants an example is in this epoch, 0: itself. A function of the seed, the epoch
// and the example alone, so that a resumed run agrees.
int Trainer::VariantOf(int32_t example) const {
  const int n_variants = cache_->n_variants();
  if (n_variants == 0) return 0;
  Random random(options_.seed ^ (static_cast<uint64_t>(progress_.epoch) << 32) ^
                static_cast<uint64_t>(example));
  return static_cast<int>(random.Below(static_cast<uint64_t>(n_variants) + 1));
}

// The next n examples of the epoch's order, each as itself or as one of its variants.
void Trainer::GatherBatch(size_t n) {
  const size_t scratch = cache_->scratch_floats();
  batch_rows_.resize(n);
  batch_labels_.resize(n);
  batch_values_.resize(n);
  batch_scratch_.resize(n * scratch);
  for (size_t i = 0; i < n; ++i) {
    const int32_t position = progress_.order[progress_.position + i];
    const int32_t example = train_[static_cast<size_t>(position)];
    batch_rows_[i] = cache_->row(example, VariantOf(example), batch_scratch_.data() + i * scratch);
    batch_labels_[i] = cache_->uses_labels() ? cache_->label(example) : 0;
    batch_values_[i] = cache_->uses_labels() ? nullptr : cache_->values(example);
  }
}

int64_t Trainer::TotalSteps() const {
  const int64_t n = static_cast<int64_t>(train_.size());
  const int64_t steps = (n + options_.batch_size - 1) / options_.batch_size;
  return std::max<int64_t>(1, steps * options_.epochs);
}

// Adam's chosen rate is high, so that few steps go far, and falls to 0 so that they end calmly.
ScheduleOptions Trainer::schedule() const {
  ScheduleOptions schedule = options_.schedule;
  const bool chosen = options_.learning_rate == 0.0f && options_.optimizer != Optimizer::kSgd;
  if (chosen && !deep() && schedule.schedule == Schedule::kConstant) {
    schedule.schedule = Schedule::kCosine;
  }
  return schedule;
}

// Of step number `step` (from 0), in the epoch in progress.
float Trainer::LearningRateAt(int64_t step) const {
  const double factor = ScheduleFactor(schedule(), step, progress_.epoch, TotalSteps());
  return static_cast<float>(static_cast<double>(learning_rate_) * factor);
}

Status Trainer::StepImpl(double* out_loss) {
  const size_t n = std::min(static_cast<size_t>(options_.batch_size),
                            progress_.order.size() - progress_.position);
  GatherBatch(n);
  BatchLoss batch;
  const Targets targets = {batch_labels_.data(), batch_values_.data()};
  const Status status = network_->ComputeGradient(loss_, batch_rows_.data(), targets,
                                                  static_cast<int64_t>(n), &batch);
  if (!status.ok()) {
    return status.WithPrefix(StrFormat("epoch %d, step %lld: ", progress_.epoch + 1,
                                       static_cast<long long>(progress_.step + 1)));
  }
  optimizer_->Update(LearningRateAt(progress_.step), network_->gradient(), network_->parameters());
  temperature_ = 1.0;
  ++progress_.step;
  progress_.position += n;
  progress_.loss_sum += batch.loss_sum;
  progress_.weight_sum += batch.weight_sum;
  progress_.hits += batch.hits;
  *out_loss = batch.loss_sum / batch.weight_sum;
  return Status::Ok();
}

Status Trainer::Step(double* out_loss, bool* out_epoch_done) {
  return Advance(1, 0.0, out_loss, out_epoch_done);
}

// One step on the CPU; on a device up to max_steps of the epoch, and at least one, until
// max_seconds (0: no limit) have passed or Cancel() is called. *out_loss is the last step's.
Status Trainer::Advance(int64_t max_steps, double max_seconds, double* out_loss,
                        bool* out_epoch_done) {
  if (!IsFirstOrder(options_.optimizer)) {
    return FailedPrecondition(
        "%s looks at all examples at once and takes no single steps; train instead",
        OptimizerName(options_.optimizer));
  }
  TW_RETURN_IF_ERROR(EnsureReady());
  const int64_t start = port::NowNanos();
  if (progress_.order.empty()) TW_RETURN_IF_ERROR(StartEpoch());
  if (device_ != nullptr || device_epoch_ != progress_.epoch) EnsureDevice();
  bool done = false;
  if (device_ != nullptr) TW_RETURN_IF_ERROR(DeviceRun(max_steps, max_seconds, out_loss, &done));
  if (!done) TW_RETURN_IF_ERROR(StepImpl(out_loss));
  *out_epoch_done = progress_.position == progress_.order.size();
  if (!*out_epoch_done) {
    progress_.seconds += port::SecondsSince(start);
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(FinishEpoch());
  progress_.history.back().seconds += port::SecondsSince(start);
  return Status::Ok();
}

Status Trainer::FinishEpoch() {
  EpochMetrics metrics;
  metrics.epoch = progress_.epoch + 1;
  metrics.n_epochs = options_.epochs;
  metrics.step = progress_.step;
  metrics.train_loss = progress_.loss_sum / progress_.weight_sum;
  metrics.train_accuracy = progress_.hits / static_cast<double>(progress_.order.size());
  metrics.has_validation = !validation_.empty();
  metrics.learning_rate =
      static_cast<double>(learning_rate_) *
      ScheduleFactor(schedule(), progress_.step - 1, progress_.epoch, TotalSteps());
  if (metrics.has_validation) {
    Measured measured;
    TW_RETURN_IF_ERROR(device_ != nullptr ? MeasureOnDevice(validation_, &measured)
                                          : Measure(*cache_, validation_, &measured));
    metrics.validation_loss = measured.loss;
    metrics.validation_accuracy = measured.accuracy;
  }
  metrics.seconds = progress_.seconds;
  progress_.history.push_back(metrics);
  ++progress_.epoch;
  progress_.order.clear();
  progress_.position = 0;
  progress_.loss_sum = progress_.weight_sum = progress_.hits = 0.0;
  progress_.seconds = 0.0;
  progress_.random_state = progress_.next_random_state;
  NoteBest(metrics);
  return Status::Ok();
}

// Early stopping after Prechelt (1998), by patience.
void Trainer::NoteBest(const EpochMetrics& metrics) {
  if (options_.patience == 0) return;
  const double loss = metrics.has_validation ? metrics.validation_loss : metrics.train_loss;
  const double needed = static_cast<double>(options_.min_improvement);
  if (progress_.best_epoch == 0 || loss < progress_.best_loss - needed) {
    progress_.best_loss = loss;
    progress_.best_epoch = metrics.epoch;
    const Span<const float> now = parameters();
    progress_.best_parameters.assign(now.begin(), now.end());
  } else if (metrics.epoch - progress_.best_epoch >= options_.patience) {
    progress_.stopped_early = true;
  }
}

void Trainer::ForgetBest() {
  progress_.best_epoch = 0;
  progress_.best_parameters.clear();
  progress_.best_loss = std::numeric_limits<double>::infinity();
  progress_.stopped_early = false;
}

void Trainer::RestoreBest() {
  if (!options_.restore_best || progress_.best_parameters.empty()) return;
  std::copy(progress_.best_parameters.begin(), progress_.best_parameters.end(),
            network_->parameters().begin());
}

Status Trainer::TrainSteps(const TrainBudget& budget, const EpochCallback& on_epoch) {
  const int64_t start = port::NowNanos();
  int n_epochs = 0;
  while (!finished()) {
    if (cancel_.exchange(false)) return Cancelled("training was cancelled");
    double loss = 0.0;
    bool epoch_done = false;
    const double left = budget.max_seconds > 0.0
                            ? std::max(1e-9, budget.max_seconds - port::SecondsSince(start))
                            : 0.0;
    TW_RETURN_IF_ERROR(Advance(std::numeric_limits<int64_t>::max(), left, &loss, &epoch_done));
    if (epoch_done) {
      ++n_epochs;
      if (on_epoch && !on_epoch(progress_.history.back())) break;
      if (budget.max_epochs > 0 && n_epochs >= budget.max_epochs) break;
    }
    if (budget.max_seconds > 0.0 && port::SecondsSince(start) >= budget.max_seconds) break;
  }
  if (finished()) RestoreBest();
  return Status::Ok();
}

Status Trainer::TrainFor(const TrainBudget& budget, const EpochCallback& on_epoch,
                         bool* out_finished) {
  if (cancel_.exchange(false)) return Cancelled("training was cancelled");
  TW_RETURN_IF_ERROR(EnsureReady());
  if (!finished()) {
    if (!IsFirstOrder(options_.optimizer)) EnsureDevice();  // says why there is none
    TW_RETURN_IF_ERROR(IsFirstOrder(options_.optimizer) ? TrainSteps(budget, on_epoch)
                                                        : Solve(budget, on_epoch));
  }
  if (out_finished != nullptr) *out_finished = finished();
  return Status::Ok();
}

Status Trainer::Train(const EpochCallback& on_epoch) {
  return TrainFor(TrainBudget(), on_epoch, nullptr);
}

Status Trainer::Measure(const FeatureCache& cache, Span<const int32_t> indices, Measured* out) {
  Measured sum;
  double weights = 0.0;
  const size_t n_outputs = static_cast<size_t>(n_classes());
  LossOptions plain = loss_;
  plain.label_smoothing = 0.0f;
  std::vector<float> delta(n_outputs);
  TW_RETURN_IF_ERROR(
      ForEachScores(network_.get(), cache, indices, [&](int32_t i, const float* scores) {
        const int32_t label = cache.uses_labels() ? cache.label(i) : 0;
        const float* values = cache.uses_labels() ? nullptr : cache.values(i);
        const Targets targets = {&label, &values};
        double hits = 0.0;
        sum.loss += EvaluateLossRow(plain, targets, 0, n_classes(), scores);
        weights += RowWeight(plain, targets, 0);
        std::memcpy(delta.data(), scores, n_outputs * sizeof(float));
        LossRow(plain, targets, 0, n_classes(), 1.0f, delta.data(), &hits);
        sum.accuracy += hits;
      }));
  out->loss = sum.loss / weights;
  out->accuracy = sum.accuracy / static_cast<double>(indices.size());
  return Status::Ok();
}

Status Trainer::ForEachScores(Trainable* network, const FeatureCache& cache,
                              Span<const int32_t> indices,
                              FunctionRef<void(int32_t index, const float* scores)> visit) {
  const size_t n_outputs = static_cast<size_t>(network->n_outputs());
  // Rows of deeper cuts are whole maps: fewer of them at a time where they are converted.
  const size_t row_floats = cache.scratch_floats();
  const size_t most = kMeasureFloats / std::max<size_t>(1, row_floats);
  const size_t chunk = std::max<size_t>(1, std::min(kMeasureRows, most));
  std::vector<const float*> rows;
  std::vector<float> scratch(chunk * row_floats);
  std::vector<float> scores(chunk * n_outputs);
  NoteWorking((scratch.size() + scores.size()) * sizeof(float));
  for (size_t first = 0; first < indices.size(); first += chunk) {
    const size_t n = std::min(chunk, indices.size() - first);
    rows.clear();
    for (size_t i = 0; i < n; ++i) {
      rows.push_back(cache.row(indices[first + i], 0, scratch.data() + i * row_floats));
    }
    TW_RETURN_IF_ERROR(network->Scores(rows.data(), static_cast<int64_t>(n), scores.data()));
    for (size_t i = 0; i < n; ++i) visit(indices[first + i], scores.data() + i * n_outputs);
  }
  return Status::Ok();
}

}  // namespace topwork
