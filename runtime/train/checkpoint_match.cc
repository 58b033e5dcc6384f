// Taking over the state of a checkpoint, once it is known to belong to the trainer.
#include <algorithm>
#include <utility>

#include "models/format/checkpoint_file.h"
#include "runtime/train/checkpoint_store.h"

namespace topwork {
namespace {

Status Refuse(const std::string& theirs, const std::string& ours) {
  return FailedPrecondition("the checkpoint was made with {}, this trainer has {}", theirs, ours);
}

// The lines of both sides are the same.
Status CheckOptions(const std::vector<std::string>& theirs, const std::vector<std::string>& ours) {
  if (theirs.size() != ours.size()) {
    return FailedPrecondition("the checkpoint was made with other options ({} of them, not {})",
                              theirs.size(), ours.size());
  }
  for (size_t i = 0; i < ours.size(); ++i) {
    if (theirs[i] == ours[i]) continue;
    return Refuse(theirs[i], ours[i].substr(ours[i].find(' ') + 1));
  }
  return Status::Ok();
}

// The sets hold examples that exist, each once; an order, places in the one that is trained on.
Status CheckSets(const CheckpointData& data, int64_t n_examples) {
  std::vector<uint8_t> seen(static_cast<size_t>(n_examples), false);
  for (const std::vector<int32_t>* set : {&data.train, &data.validation}) {
    for (int32_t i : *set) {
      if (i < 0 || i >= n_examples || seen[static_cast<size_t>(i)]) {
        return Corrupt("the checkpoint contradicts itself: example {} of {}", i, n_examples);
      }
      seen[static_cast<size_t>(i)] = true;
    }
  }
#ifndef TW_NO_LEARN
  const int32_t n_train = static_cast<int32_t>(data.train.size());
  for (int32_t place : data.values.order) {  // as in EpochPlan::AddMinorities
    if (place >= -n_train && place < n_train) continue;
    return Corrupt("the checkpoint contradicts itself: place {} of {}", place, n_train);
  }
#endif
  return Status::Ok();
}

// A learner keeps one row of an example, and may keep none.
Status CheckLearner(const CheckpointData& data, const TrainerOptions& options) {
  if (!data.statistics.empty()) {
    return FailedPrecondition(
        "it is a learner's memory with examples whose features are not kept; training needs them");
  }
  if (options.augmentation.n_variants > 0 || options.n_layers > 1) {
    return FailedPrecondition(
        "it is a learner's memory: it holds features for the last layer, without variants of "
        "examples");
  }
  const int64_t n_examples = static_cast<int64_t>(data.labels.size());
  if (options.replay_capacity > 0 && n_examples > options.replay_capacity) {
    return FailedPrecondition("it is a learner's memory of {} examples; at most {} are to be kept",
                              n_examples, options.replay_capacity);
  }
  return Status::Ok();
}

}  // namespace

Status CheckpointStore::CheckBelongs(const CheckpointData& data) const {
  const std::string& sha256 = context_.layers->model().sha256();
  const int64_t dim = context_.set->dim();
  if (data.model_sha256 != sha256) {
    return Refuse("the model " + data.model_sha256.substr(0, 12), sha256.substr(0, 12));
  }
  const std::vector<std::string> lines = RunLines(*context_.options, context_.layers->head().output,
                                                  context_.layers->head().appended());
  TW_RETURN_IF_ERROR(data.is_learner ? CheckLearner(data, *context_.options)
                                     : CheckOptions(data.options, lines));
  if (data.dim != dim) {
    return Refuse(StrFormat("{} features", data.dim), StrFormat("{}", dim));
  }
  TW_RETURN_IF_ERROR(CheckClasses(data));
  if (data.has_examples || data.examples_sha256 == context_.set->digest()) return Status::Ok();
  return FailedPrecondition(
      "the checkpoint was made with other examples (or their features were "
      "computed on another kind of processor); this trainer has {}; add "
      "the same examples in the same order before restoring",
      context_.set->size());
}

Status CheckpointStore::CheckClasses(const CheckpointData& data) const {
  const bool same_names = data.class_names == context_.options->class_names;
  // Its examples bring their classes along; outputs that are numbers cannot change.
  const bool brings_classes = data.has_examples && !IsRegression(context_.options->loss.loss);
  if (data.n_classes != context_.n_classes() && !brings_classes) {
    return Refuse(StrFormat("n_classes {}", data.n_classes), StrFormat("{}", context_.n_classes()));
  }
  if (!same_names && judge_.has_golden()) {
    return FailedPrecondition(
        "the checkpoint has other classes than the golden set; set that after restoring");
  }
  if (data.has_examples || same_names) return Status::Ok();
  return FailedPrecondition("the checkpoint was made with other class names");
}

// The examples of the checkpoint in place of the trainer's own.
Result<std::unique_ptr<FeatureCache>> CheckpointStore::ExamplesOf(
    const CheckpointData& data) const {
  const FeatureCache& now = context_.set->cache();
  const size_t dim = static_cast<size_t>(now.dim());
  const size_t n_rows = static_cast<size_t>(now.n_variants()) + 1;
  const size_t n_values = now.uses_labels() ? 0 : static_cast<size_t>(data.n_classes);
  const size_t n = n_values > 0 ? data.targets.size() / n_values : data.labels.size();
  std::unique_ptr<FeatureCache> cache = context_.set->NewCache(true);
  if (data.rows.size() != n * n_rows * dim || data.targets.size() != n * n_values ||
      (!data.groups.empty() && data.groups.size() != n) ||
      (!data.names.empty() && data.names.size() != n)) {
    return Corrupt("the checkpoint contradicts itself: {} floats of {} examples", data.rows.size(),
                   n);
  }
  if (n_values > 0) cache->MapOutputs(std::vector<std::vector<int32_t>>(n_values));  // as many
  TW_RETURN_IF_ERROR(cache->Reserve(static_cast<int64_t>(n)));
  for (size_t i = 0; i < n; ++i) {
    const float* row = data.rows.data() + i * n_rows * dim;
    ExampleTarget target;
    std::vector<float> values(
        data.targets.begin() + static_cast<std::ptrdiff_t>(i * n_values),
        data.targets.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_values));
    target.values = n_values > 0 ? values.data() : nullptr;
    target.label = n_values > 0 ? -1 : data.labels[i];
    target.group = data.groups.empty() ? -1 : std::max(-1, data.groups[i]);
    if (n_values == 0 && (target.label < 0 || target.label >= data.n_classes)) {
      return Corrupt("the checkpoint contradicts itself: label {} of {} classes", target.label,
                     data.n_classes);
    }
    TW_RETURN_IF_ERROR(cache->Append(row, target));
    if (!data.names.empty()) cache->SetName(static_cast<int64_t>(i), data.names[i]);
  }
  return cache;
}

Result<TrainingSet::Contents> CheckpointStore::ContentsOf(const CheckpointData& data) const {
  TrainingSet::Contents contents;
  if (data.has_examples) {
    TW_ASSIGN_OR_RETURN(contents.cache, ExamplesOf(data));
  }
  const FeatureCache& examples =
      contents.cache != nullptr ? *contents.cache : context_.set->cache();
  TW_RETURN_IF_ERROR(CheckSets(data, examples.size()));
  if (context_.set->replay() != nullptr && data.has_examples) {
    contents.replay.reset(
        new ReplayMemory(context_.options->replay_capacity, context_.options->seed));
    const std::vector<int32_t> none(static_cast<size_t>(examples.size()), 0);
    const Span<const int32_t> labels = examples.uses_labels() ? examples.labels() : none;
    if (data.is_learner) {
      contents.replay->Reset(labels);
    } else {
      TW_RETURN_IF_ERROR(contents.replay->SetState(data.replay, labels));
    }
  }
  contents.train = data.train;
  contents.validation = data.validation;
#ifndef TW_NO_LEARN
  contents.is_fitted = !data.has_new_examples;
#endif
  return contents;
}

Result<TrainingState> CheckpointStore::StateOf(const CheckpointData& data) const {
  TW_ASSIGN_OR_RETURN(TrainingState state, TrainingState::Create(*context_.layers, data.n_classes,
                                                                 *context_.options, context_.pool));
  if (data.is_learner) {  // its head, and nothing of a training
    if (context_.options->optimizer == Optimizer::kKnn) return state;  // examples alone make one
    TW_RETURN_IF_ERROR(state.SetParameters(data.values.parameters));
    return state;
  }
  TW_RETURN_IF_ERROR(state.Assign(data.values));
  const float given = context_.options->learning_rate;
  if (given != 0.0f) state.learning_rate = given;  // it may differ from the checkpoint's
  return state;
}

// Everything is built and checked before anything of the trainer changes.
Status CheckpointStore::Adopt(const CheckpointData& data) const {
  TW_RETURN_IF_ERROR(CheckBelongs(data));
  TW_ASSIGN_OR_RETURN(TrainingSet::Contents contents, ContentsOf(data));
  TW_ASSIGN_OR_RETURN(TrainingState state, StateOf(data));
#ifndef TW_NO_LEARN
  const std::vector<int32_t>& order = data.values.order;
  if (!order.empty() && state.progress.position >= order.size()) {
    return Corrupt("the checkpoint contradicts itself: {} of {} examples of an epoch are used",
                   state.progress.position, order.size());
  }
  TW_RETURN_IF_ERROR(rejecter_.AddNegativeRows(data.negatives));
#endif
  *context_.state = std::move(state);
  context_.options->n_classes = data.n_classes;
  context_.options->class_names = data.class_names;
  context_.set->Adopt(std::move(contents));
#ifndef TW_NO_LEARN
  context_.state->order = data.values.order;
  context_.state->next_random_state = data.values.next_random_state;
#endif
  // Else the order of an epoch in progress follows from the examples; where it cannot, the epoch
  // begins again.
  TrainingState* const now = context_.state;
  if (!now->order.empty() || now->progress.position == 0) return Status::Ok();
  const Status started = plan_.StartEpoch(now);
  if (!started.ok() || now->progress.position >= now->order.size()) now->ClearEpoch();
  return Status::Ok();
}

}  // namespace topwork
