// The state of training: made, copied, and kept for early stopping. Parameters that come from
// outside are in parameters.cc.
#include "runtime/train/fit/training_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/contract/selection.h"

namespace topwork {

TrainingState::TrainingState() = default;
TrainingState::~TrainingState() = default;
TrainingState::TrainingState(TrainingState&&) noexcept = default;
TrainingState& TrainingState::operator=(TrainingState&&) noexcept = default;

namespace {

std::vector<float> ToVector(Span<const float> values) { return {values.begin(), values.end()}; }

void CopyFloats(const std::vector<float>& from, Span<float> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
}

constexpr size_t kChoiceNumbers = 6;  // fewer than L-BFGS has

Result<HeadChoice> ChoiceOf(const std::vector<double>& v) {
  const bool finite = std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
  const double last = static_cast<double>(HeadKind::kBlend);
  if (!finite || !(v[0] >= 1.0 && v[0] <= last) || !(v[1] >= 0.0 && v[1] <= 2.0) ||
      !(v[2] >= 0.0 && v[4] >= 0.0)) {
    return Corrupt("the checkpoint contradicts itself: it says of no head how it was fitted");
  }
  return HeadChoice{static_cast<HeadKind>(static_cast<int>(v[0])),
                    static_cast<Scaling>(static_cast<int>(v[1])),
                    v[2],
                    v[3],
                    v[4],
                    v[5]};
}

}  // namespace

Result<TrainingState> TrainingState::Around(std::unique_ptr<Trainable> network,
                                            const TrainerOptions& options, ThreadPool* pool) {
  TrainingState state;
  TW_ASSIGN_OR_RETURN(state.optimizer, OptimizerState::Create(options, network->layout(), pool));
  state.fresh_classes.assign(static_cast<size_t>(network->n_outputs()), false);
  state.network = std::move(network);
  state.learning_rate = options.learning_rate;
  state.progress.random_state = options.seed;
  return state;
}

Result<TrainingState> TrainingState::Create(const TrainedLayers& layers, int n_classes,
                                            const TrainerOptions& options, ThreadPool* pool) {
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(layers.Build(n_classes, options, pool, &network));
  return Around(std::move(network), options, pool);
}

Result<TrainingState> TrainingState::Begin(const TrainedLayers& layers,
                                           const TrainerOptions& options, ThreadPool* pool) {
  if (options.init != HeadInit::kShipped) {
    TW_ASSIGN_OR_RETURN(TrainingState state, Create(layers, options.n_classes, options, pool));
    const bool imprint = options.init == HeadInit::kImprint;
    state.fresh_classes.assign(state.fresh_classes.size(), imprint);
    return state;
  }
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(layers.BuildShipped(options, pool, &network));
  TW_ASSIGN_OR_RETURN(TrainingState state, Around(std::move(network), options, pool));
  state.NoteNewParameters();
  return state;
}

Result<TrainingState> TrainingState::BeginAgain(const TrainedLayers& layers,
                                                const TrainerOptions& options,
                                                int64_t n_epoch_steps, ThreadPool* pool) const {
  if (start.parameters.empty()) return Begin(layers, options, pool);
  TW_ASSIGN_OR_RETURN(TrainingState state, Create(layers, options.n_classes, options, pool));
  CopyFloats(start.parameters, state.network->parameters());
  state.fresh_classes.assign(start.fresh_classes.begin(), start.fresh_classes.end());
  state.start = start;
  state.progress.epoch = start.epoch;
  state.progress.step = start.epoch * n_epoch_steps;
  return state;
}

TrainingValues TrainingState::Values() const {
  TrainingValues values;
  values.parameters = ToVector(parameters());
  values.moment1 = ToVector(optimizer->moment1());
  values.moment2 = ToVector(optimizer->moment2());
  values.n_updates = optimizer->n_updates();
  if (lbfgs != nullptr) values.solver = lbfgs->State();
  if (choice.kind != HeadKind::kNone) {
    values.solver = {static_cast<double>(choice.kind),
                     static_cast<double>(choice.scaling),
                     choice.penalty,
                     choice.scale,
                     choice.logistic_penalty,
                     choice.logistic_scale};
  }
  values.learning_rate = learning_rate;
  values.temperature = temperature;
  values.fresh_classes.assign(fresh_classes.begin(), fresh_classes.end());
  values.progress = progress;
  values.start = start;
  values.validated_parameters = validated_parameters;
  return values;
}

Status TrainingState::Assign(const TrainingValues& values) {
  const size_t n = network->parameters().size();
  const size_t n_outputs = static_cast<size_t>(network->n_outputs());
  const auto fits = [n](const std::vector<float>& v) { return v.empty() || v.size() == n; };
  if (values.parameters.size() != n || values.moment1.size() != optimizer->moment1().size() ||
      values.moment2.size() != optimizer->moment2().size() ||
      !fits(values.progress.best_parameters) || !fits(values.start.parameters) ||
      !fits(values.validated_parameters) || values.fresh_classes.size() != n_outputs) {
    return Corrupt("the checkpoint contradicts itself: {} parameters for {}",
                   values.parameters.size(), n);
  }
  std::unique_ptr<Lbfgs> solver;
  HeadChoice chosen;
  if (!kTrainsLastAlone && values.solver.size() == kChoiceNumbers) {
    TW_ASSIGN_OR_RETURN(chosen, ChoiceOf(values.solver));
  } else if (!kTrainsLastAlone && !values.solver.empty()) {
    solver.reset(new Lbfgs(LbfgsOptions(), values.parameters));
    TW_RETURN_IF_ERROR(solver->SetState(values.solver));
  }
  CopyFloats(values.parameters, network->parameters());
  CopyFloats(values.moment1, optimizer->moment1());
  CopyFloats(values.moment2, optimizer->moment2());
  optimizer->set_n_updates(values.n_updates);
  lbfgs = std::move(solver);
  choice = chosen;
  learning_rate = values.learning_rate;
  temperature = values.temperature;
  fresh_classes.assign(values.fresh_classes.begin(), values.fresh_classes.end());
  progress = values.progress;
  start = values.start;
  validated_parameters = values.validated_parameters;
  return Status::Ok();
}

void TrainingState::BeginAnew() {
  DropLastFit();
  progress.stopped_early = false;
  progress.epoch = start.epoch;
  progress.history.clear();
}

void TrainingState::NoteNewExamples(bool moved) {
  lbfgs.reset();
  last_fit.reset();
  ForgetBest();
  if (moved) ClearEpoch();
}

void TrainingState::ClearEpoch() {
  order.clear();
  progress.position = 0;
  progress.loss_sum = progress.weight_sum = progress.hits = 0.0;
}

void TrainingState::NoteBest(const EpochMetrics& metrics, const TrainerOptions& options) {
  if (options.patience == 0) return;
  const double loss = metrics.has_validation ? metrics.validation_loss : metrics.train_loss;
  const double needed = static_cast<double>(options.min_improvement);
  if (progress.best_epoch == 0 || loss < progress.best_loss - needed) {
    progress.best_loss = loss;
    progress.best_epoch = metrics.epoch;
    progress.best_parameters = ToVector(parameters());
  } else if (metrics.epoch - progress.best_epoch >= options.patience) {
    progress.stopped_early = true;
  }
}

void TrainingState::RestoreBest(const TrainerOptions& options) {
  if (!options.restore_best || progress.best_parameters.empty()) return;
  CopyFloats(progress.best_parameters, network->parameters());
}

void TrainingState::ForgetBest() {
  progress.best_epoch = 0;
  progress.best_parameters.clear();
  progress.best_loss = std::numeric_limits<double>::infinity();
  progress.stopped_early = false;
}

int TrainingState::EpochsFound(const TrainerOptions& options) const {
  const bool best = options.patience > 0 && options.restore_best && progress.best_epoch > 0;
  return best ? progress.best_epoch : progress.epoch;
}

Status TrainingState::TakeLastFit(Span<const float> fitted) {
  TW_RETURN_IF_ERROR(CheckRoom(fitted.size() * sizeof(float), "the validated parameters"));
  validated_parameters = ToVector(parameters());
  std::copy(fitted.begin(), fitted.end(), network->parameters().begin());
  return Status::Ok();
}

void TrainingState::DropLastFit() {
  CopyFloats(validated_parameters, network->parameters());
  validated_parameters.clear();
  last_fit.reset();
}

void ValidatedHead::Swap() {
  std::vector<float>& validated = state_.validated_parameters;
  std::swap_ranges(validated.begin(), validated.end(), state_.network->parameters().begin());
}

size_t TrainingState::bytes() const {
  const size_t n_floats = progress.best_parameters.size() + start.parameters.size() +
                          validated_parameters.size() + order.size();
  return network->bytes() + optimizer->bytes() + (lbfgs != nullptr ? lbfgs->bytes() : 0) +
         (last_fit != nullptr ? last_fit->bytes() : 0) + n_floats * sizeof(float);
}

}  // namespace topwork
