// Epochs and steps, schedules and early stopping.
#include "runtime/train/fit/training_loop.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "ports/port.h"

namespace topwork {

// Ready to step: examples split, learning rate chosen, new classes imprinted.
Status TrainingLoop::EnsureReady() {
  TW_RETURN_IF_ERROR(context_.EnsureSplit());
  const Optimizer optimizer = context_.options->optimizer;
  if (!context_.set->is_fitted() && FollowsExamples(optimizer)) {
    context_.state->BeginAnew();
  } else if (!context_.set->is_fitted()) {
    context_.state->DropLastFit();
    context_.set->NoteFit();
  }
  float& rate = context_.state->learning_rate;
  if (rate == 0.0f) {
    TW_ASSIGN_OR_RETURN(rate, ChooseLearningRate(context_));
  }
  std::vector<uint8_t>& fresh = context_.state->fresh_classes;
  if (optimizer == Optimizer::kKnn) fresh.assign(fresh.size(), false);  // examples stand for them
  return kTrainsPlainly ? Status::Ok() : imprinter_.ImprintFresh();
}

Status TrainingLoop::Step(double* out_loss, bool* out_epoch_done) {
  if (!IsFirstOrder(context_.options->optimizer)) {
    return FailedPrecondition(
        "{} looks at all examples at once and takes no single steps; train instead",
        OptimizerName(context_.options->optimizer));
  }
  return Advance(1, 0.0, out_loss, out_epoch_done);
}

// As HeadFitter::Advance, and ends the epoch after its last step.
Status TrainingLoop::Advance(int64_t max_steps, double max_seconds, double* out_loss,
                             bool* out_epoch_done) {
  TW_RETURN_IF_ERROR(EnsureReady());
  TrainingState& state = *context_.state;
  state.DropLastFit();
  const bool whole = !IsFirstOrder(context_.options->optimizer);
  const int64_t start = port::NowNanos();
  if (!whole && state.order.empty()) {
    TW_RETURN_IF_ERROR(plan_.StartEpoch(&state));
  }
  const Status status = choice_.Choose()->Advance(max_steps, max_seconds, out_loss);
  choice_.DropFailedDevice();
  TW_RETURN_IF_ERROR(status);
  *out_epoch_done = whole || state.progress.position == state.order.size();
  if (!*out_epoch_done) {
    state.progress.seconds += port::SecondsSince(start);
    return Status::Ok();
  }
  TW_RETURN_IF_ERROR(FinishEpoch());
  state.progress.history.back().seconds += port::SecondsSince(start);
  return Status::Ok();
}

Status TrainingLoop::FinishEpoch() {
  TrainingState& state = *context_.state;
  TrainingProgress& progress = state.progress;
  const std::vector<int32_t>& validation = context_.set->validation();
  HeadFitter* fitter = choice_.chosen();
  EpochMetrics metrics;
  metrics.epoch = progress.epoch + 1;
  metrics.n_epochs = context_.options->epochs;
  metrics.step = progress.step;
  if (IsFirstOrder(context_.options->optimizer)) {
    metrics.train_loss = progress.loss_sum / progress.weight_sum;
    metrics.train_accuracy = progress.hits / static_cast<double>(state.order.size());
    metrics.learning_rate = plan_.LearningRateAt(progress.step - 1);
  } else {
    Measured train;
    TW_RETURN_IF_ERROR(fitter->Measure(context_.set->train(), &train));
    metrics.train_loss = train.loss;
    metrics.train_accuracy = train.accuracy;
  }
  metrics.has_validation = !validation.empty();
  if (metrics.has_validation) {
    Measured measured;
    const Status status = fitter->Measure(validation, &measured);
    choice_.DropFailedDevice();
    TW_RETURN_IF_ERROR(status);
    metrics.validation_loss = measured.loss;
    metrics.validation_accuracy = measured.accuracy;
  }
  metrics.seconds = progress.seconds;
  progress.history.push_back(metrics);
  ++progress.epoch;
  state.ClearEpoch();
  progress.seconds = 0.0;
  if (IsFirstOrder(context_.options->optimizer)) {
    progress.random_state = state.next_random_state;
  }
  if (epochs_on_all_ == 0) state.NoteBest(metrics, *context_.options);
  return Status::Ok();
}

Status TrainingLoop::TakeEpochs(TrainBudget* budget, const EpochCallback& on_epoch,
                                bool* out_goes_on) {
  const int64_t start = port::NowNanos();
  const double max_seconds = budget->max_seconds;
  *out_goes_on = true;
  while (*out_goes_on && !has_all_epochs()) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    double loss = 0.0;
    bool epoch_done = false;
    TW_RETURN_IF_ERROR(
        Advance(std::numeric_limits<int64_t>::max(), budget->max_seconds, &loss, &epoch_done));
    if (epoch_done) {
      *out_goes_on = !on_epoch || on_epoch(context_.state->progress.history.back());
      if (budget->max_epochs > 0 && --budget->max_epochs == 0) *out_goes_on = false;
    }
    if (max_seconds <= 0.0) continue;
    const double left = max_seconds - port::SecondsSince(start);
    if (left <= 0.0) *out_goes_on = false;
    budget->max_seconds = std::max(1e-9, left);
  }
  return Status::Ok();
}

bool TrainingLoop::WantsLastFit() const {
  const TrainingState& state = *context_.state;
  const TrainerOptions& options = *context_.options;
  const bool follows = FollowsExamples(options.optimizer);
  return !options.keep_held_back && (options.replay_capacity == 0 || follows) &&
         !plan_.has_permutations() && !context_.set->validation().empty() &&
         (state.validated_parameters.empty() || !context_.set->is_fitted()) &&
         state.EpochsFound(options) > state.start.epoch;
}

// From the start once more, with the validation examples among the others, or on from where the last
// call left off. The state of the run stays beside the parameters that come of it.
Status TrainingLoop::FitOnAll(TrainBudget* budget) {
  TrainingState& state = *context_.state;
  std::unique_ptr<TrainingState> fit = std::move(state.last_fit);
  const TrainingSet::OnlyForTraining all(context_.set);
  if (fit == nullptr) {
    TW_ASSIGN_OR_RETURN(TrainingState begun, state.BeginAgain(*context_.layers, *context_.options,
                                                              plan_.EpochSteps(), context_.pool));
    begun.learning_rate = state.learning_rate;
    begun.choice = state.choice;
    fit.reset(new TrainingState(std::move(begun)));
  }
  epochs_on_all_ = state.EpochsFound(*context_.options);
  std::swap(state, *fit);
  bool goes_on = false;
  Status status = TakeEpochs(budget, nullptr, &goes_on);
  const bool done = has_all_epochs();
  epochs_on_all_ = 0;
  std::swap(state, *fit);
  context_.watch->NoteBytes(fit->bytes());
  const bool goes_on_later = status.ok() || status.code() == StatusCode::kCancelled;
  if (status.ok() && done) status = state.TakeLastFit(fit->parameters());
  if (goes_on_later && !(status.ok() && done)) state.last_fit = std::move(fit);
  return status.ok() ? status : status.WithPrefix("the last fit on all examples: ");
}

Status TrainingLoop::TrainFor(TrainBudget budget, const EpochCallback& on_epoch) {
  const Cancellation::Call call(&context_.watch->cancellation());
  TW_RETURN_IF_ERROR(EnsureReady());
  bool goes_on = true;
  if (!has_all_epochs()) {
    bool asked_to_stop = false;
    const auto told = [&](const EpochMetrics& metrics) {
      asked_to_stop = on_epoch && !on_epoch(metrics);
      return !asked_to_stop;
    };
    TW_RETURN_IF_ERROR(TakeEpochs(&budget, told, &goes_on));
    if (has_all_epochs()) context_.state->RestoreBest(*context_.options);
    // A closed form is one step, both times together.
    if (context_.options->optimizer >= Optimizer::kRidge) goes_on = !asked_to_stop;
  }
  return goes_on && has_all_epochs() && WantsLastFit() ? FitOnAll(&budget) : Status::Ok();
}

}  // namespace topwork
