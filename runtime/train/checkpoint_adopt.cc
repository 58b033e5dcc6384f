// Taking over the state of a checkpoint, once it is known to belong to the trainer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "models/format/checkpoint_file.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

void CopyFloats(const std::vector<float>& from, Span<float> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
}

// The sets hold examples that exist, each once.
Status CheckSets(const CheckpointData& data, int64_t n_examples) {
  std::vector<bool> seen(static_cast<size_t>(n_examples), false);
  for (const std::vector<int32_t>* set : {&data.train, &data.validation}) {
    for (int32_t i : *set) {
      if (i < 0 || i >= n_examples || seen[static_cast<size_t>(i)]) {
        return Corrupt("the checkpoint contradicts itself: example %d of %lld", i,
                       static_cast<long long>(n_examples));
      }
      seen[static_cast<size_t>(i)] = true;
    }
  }
  if (data.position > 0 && data.position >= data.train.size()) {
    return Corrupt("the checkpoint contradicts itself: %llu examples of an epoch of %zu are used",
                   static_cast<unsigned long long>(data.position), data.train.size());
  }
  return Status::Ok();
}

}  // namespace

// Everything that shapes a run beside its examples, as text: a checkpoint fits a trainer whose
// lines are the same. Learning rate and number of epochs may change.
std::vector<std::string> Trainer::RunOptions() const {
  const TrainerOptions& o = options_;
  std::vector<std::string> lines;
  const auto add = [&](const char* name, const std::string& value) {
    lines.push_back(std::string(name) + " " + value);
  };
  const auto number = [&](const char* name, double value) { add(name, StrFormat("%.9g", value)); };
  number("output", head_.output);
  number("n_layers", o.n_layers);
  number("bias_only", o.bias_only ? 1 : 0);
  number("append_head", head_.appended() ? 1 : 0);
  add("loss", LossName(o.loss.loss));
  number("label_smoothing", static_cast<double>(o.loss.label_smoothing));
  number("huber_delta", static_cast<double>(o.loss.huber_delta));
  for (float weight : o.loss.class_weights) number("class_weight", static_cast<double>(weight));
  number("balance_classes", o.balance_classes ? 1 : 0);
  add("optimizer", OptimizerName(o.optimizer));
  number("momentum", static_cast<double>(o.momentum));
  number("nesterov", o.nesterov ? 1 : 0);
  number("beta1", static_cast<double>(o.beta1));
  number("beta2", static_cast<double>(o.beta2));
  number("epsilon", static_cast<double>(o.epsilon));
  number("weight_decay", static_cast<double>(o.weight_decay));
  number("l1", static_cast<double>(o.l1));
  number("clip_norm", static_cast<double>(o.clip_norm));
  add("schedule", ScheduleName(o.schedule.schedule));
  number("warmup_steps", o.schedule.warmup_steps);
  number("step_epochs", o.schedule.step_epochs);
  number("step_factor", static_cast<double>(o.schedule.step_factor));
  number("patience", o.patience);
  number("min_improvement", static_cast<double>(o.min_improvement));
  number("batch_size", o.batch_size);
  add("seed", std::to_string(o.seed));
  number("validation_fraction", static_cast<double>(o.validation_fraction));
  number("replay_capacity", static_cast<double>(o.replay_capacity));
  number("variants", o.augmentation.n_variants);
  return lines;
}

Status Trainer::CheckBelongs(const CheckpointData& data) {
  const auto refuse = [](const std::string& theirs, const std::string& ours) {
    return FailedPrecondition("the checkpoint was made with %s, this trainer has %s",
                              theirs.c_str(), ours.c_str());
  };
  const std::string model = data.model_sha256.substr(0, 12);
  if (data.model_sha256 != model_->sha256()) {
    return refuse("the model " + model, model_->sha256().substr(0, 12));
  }
  const std::vector<std::string> options = RunOptions();
  if (data.options.size() != options.size()) {
    return FailedPrecondition("the checkpoint was made with other options (%zu of them, not %zu)",
                              data.options.size(), options.size());
  }
  for (size_t i = 0; i < options.size(); ++i) {
    if (data.options[i] == options[i]) continue;
    return refuse(data.options[i], options[i].substr(options[i].find(' ') + 1));
  }
  if (data.dim != dim()) {
    return refuse(StrFormat("%lld features", static_cast<long long>(data.dim)),
                  StrFormat("%lld", static_cast<long long>(dim())));
  }
  const bool same_names = data.class_names == options_.class_names;
  // Its examples bring their classes along; outputs that are numbers cannot change.
  const bool brings_classes = data.has_examples && cache_->uses_labels();
  if (data.n_classes != n_classes() && !brings_classes) {
    return refuse(StrFormat("n_classes %d", data.n_classes), std::to_string(n_classes()));
  }
  if (!same_names && golden_ != nullptr) {
    return FailedPrecondition(
        "the checkpoint has other classes than the golden set; set that after restoring");
  }
  if (data.has_examples) return Status::Ok();
  if (!same_names) return FailedPrecondition("the checkpoint was made with other class names");
  if (data.examples_sha256 != ExamplesDigest()) {
    return FailedPrecondition(
        "the checkpoint was made with other examples (or their features were "
        "computed on another kind of processor); this trainer has %lld; add "
        "the same examples in the same order before restoring",
        static_cast<long long>(cache_->size()));
  }
  return Status::Ok();
}

// The examples of the checkpoint in place of the trainer's own.
Result<std::unique_ptr<FeatureCache>> Trainer::ExamplesOf(const CheckpointData& data) const {
  const size_t dim = static_cast<size_t>(this->dim());
  const size_t n_rows = static_cast<size_t>(cache_->n_variants()) + 1;
  const size_t n_values = cache_->uses_labels() ? 0 : static_cast<size_t>(data.n_classes);
  const size_t n = n_values > 0 ? data.values.size() / n_values : data.labels.size();
  std::unique_ptr<FeatureCache> cache = NewCache(true);
  if (data.rows.size() != n * n_rows * dim || data.values.size() != n * n_values) {
    return Corrupt("the checkpoint contradicts itself: %zu floats of %zu examples",
                   data.rows.size(), n);
  }
  TW_RETURN_IF_ERROR(cache->Reserve(static_cast<int64_t>(n)));
  for (size_t i = 0; i < n; ++i) {
    const float* row = data.rows.data() + i * n_rows * dim;
    ExampleTarget target;
    std::vector<float> values(
        data.values.begin() + static_cast<std::ptrdiff_t>(i * n_values),
        data.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_values));
    target.values = n_values > 0 ? values.data() : nullptr;
    target.label = n_values > 0 ? -1 : data.labels[i];
    if (n_values == 0 && (target.label < 0 || target.label >= data.n_classes)) {
      return Corrupt("the checkpoint contradicts itself: label %d of %d classes", target.label,
                     data.n_classes);
    }
    TW_RETURN_IF_ERROR(cache->Append(row, target));
  }
  return cache;
}

// Everything is built and checked before the first member changes.
Status Trainer::Adopt(const CheckpointData& data) {
  TW_RETURN_IF_ERROR(CheckBelongs(data));
  std::unique_ptr<FeatureCache> cache;
  if (data.has_examples) {
    TW_ASSIGN_OR_RETURN(cache, ExamplesOf(data));
  }
  const FeatureCache& examples = cache != nullptr ? *cache : *cache_;
  TW_RETURN_IF_ERROR(CheckSets(data, examples.size()));
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(BuildNetwork(data.n_classes, &network));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<OptimizerState> optimizer,
                      OptimizerState::Create(options_, network->layout(), &pool()));
  const size_t n = network->parameters().size();
  if (data.parameters.size() != n || data.moment1.size() != optimizer->moment1().size() ||
      data.moment2.size() != optimizer->moment2().size() ||
      (!data.best_parameters.empty() && data.best_parameters.size() != n) ||
      data.fresh_classes.size() != static_cast<size_t>(data.n_classes)) {
    return Corrupt("the checkpoint contradicts itself: %zu parameters for %zu",
                   data.parameters.size(), n);
  }
  std::unique_ptr<Lbfgs> lbfgs;
  if (!data.solver.empty()) {
    lbfgs.reset(new Lbfgs(LbfgsOptions(), data.parameters));
    TW_RETURN_IF_ERROR(lbfgs->SetState(data.solver));
  }
  std::unique_ptr<ReplayMemory> replay;
  if (replay_ != nullptr && data.has_examples) {
    replay.reset(new ReplayMemory(options_.replay_capacity, options_.seed));
    const std::vector<int32_t> none(static_cast<size_t>(examples.size()), 0);
    TW_RETURN_IF_ERROR(
        replay->SetState(data.replay, examples.uses_labels() ? examples.labels() : none));
  }

  CopyFloats(data.parameters, network->parameters());
  CopyFloats(data.moment1, optimizer->moment1());
  CopyFloats(data.moment2, optimizer->moment2());
  optimizer->set_n_updates(data.n_updates);
  network_ = std::move(network);
  optimizer_ = std::move(optimizer);
  lbfgs_ = std::move(lbfgs);
  if (replay != nullptr) replay_ = std::move(replay);
  if (cache != nullptr) {
    cache_ = std::move(cache);
    examples_digest_.clear();
  }
  options_.n_classes = data.n_classes;
  options_.class_names = data.class_names;
  fresh_classes_.assign(data.fresh_classes.begin(), data.fresh_classes.end());
  temperature_ = data.temperature;
  if (options_.learning_rate == 0.0f) learning_rate_ = data.learning_rate;
  train_ = data.train;
  validation_ = data.validation;
  n_split_ = static_cast<int64_t>(train_.size() + validation_.size());
  UpdateClassWeights();
  return AdoptProgress(data);
}

Status Trainer::AdoptProgress(const CheckpointData& data) {
  progress_ = Progress();
  progress_.epoch = data.epoch;
  progress_.step = data.step;
  progress_.random_state = data.random_state;
  if (data.position > 0) {
    TW_RETURN_IF_ERROR(StartEpoch());
    progress_.position = static_cast<size_t>(data.position);
  }
  progress_.loss_sum = data.loss_sum;
  progress_.weight_sum = data.weight_sum;
  progress_.hits = data.hits;
  progress_.seconds = data.epoch_seconds;
  if (data.best_epoch > 0) progress_.best_loss = data.best_loss;
  progress_.best_epoch = data.best_epoch;
  progress_.best_parameters = data.best_parameters;
  progress_.stopped_early = data.stopped_early;
  for (const CheckpointEpoch& e : data.history) {
    EpochMetrics metrics;
    metrics.epoch = e.epoch;
    metrics.n_epochs = e.n_epochs;
    metrics.step = e.step;
    metrics.train_loss = e.train_loss;
    metrics.train_accuracy = e.train_accuracy;
    metrics.has_validation = e.has_validation;
    metrics.validation_loss = e.validation_loss;
    metrics.validation_accuracy = e.validation_accuracy;
    metrics.seconds = e.seconds;
    metrics.learning_rate = e.learning_rate;
    progress_.history.push_back(metrics);
  }
  return Status::Ok();
}

}  // namespace topwork
