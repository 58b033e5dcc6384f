// A trainer's examples: features of new ones, the bounded memory, the split and class weights.
#include "runtime/train/features/training_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/train/features/split.h"

namespace topwork {

TrainingSet::TrainingSet(const TrainerOptions* options, FeatureExtractor* extractor,
                         WorkWatch* watch)
    : options_(*options), extractor_(*extractor), watch_(*watch), loss_(options->loss) {
  cache_ = NewCache(true);
  if (!kTrainsLastAlone && options->replay_capacity > 0) {
    replay_.reset(new ReplayMemory(options->replay_capacity, options->seed));
  }
}

std::unique_ptr<FeatureCache> TrainingSet::NewCache(bool with_variants) const {
  const int n_values = UsesLabels(options_.loss.loss) ? 0 : options_.n_classes;
  return extractor_.NewCache(n_values, with_variants);
}

void TrainingSet::Cancel() {
  watch_.cancellation().Request();
  extractor_.Cancel();
}

const std::string& TrainingSet::digest() {
  if (digest_.empty()) digest_ = cache_->digest();
  return digest_;
}

Status TrainingSet::Extract(const Examples& examples, const FeatureProgress& progress,
                            FeatureCache* cache) {
  const auto watch = [&](int64_t n_done, int64_t n_total) {
    if (watch_.cancelled()) return false;
    return !progress || progress(n_done, n_total);
  };
  const Cancellation::Call call(&watch_.cancellation());
  const Status status = extractor_.Extract(examples, options_.n_classes, watch, cache);
  watch_.NoteBytes(extractor_.staging_bytes() + (cache != cache_.get() ? cache->bytes() : 0));
  return status;
}

// Examples whose targets nobody asks for.
Status TrainingSet::ExtractUnlabelled(const Examples& examples, const FeatureProgress& progress,
                                      FeatureCache* cache) {
  Examples unlabelled = examples;
  const int n_values = UsesLabels(options_.loss.loss) ? 0 : options_.n_classes;
  const auto fill = [n_values](ExampleTarget* target) {
    target->label = 0;
    for (int i = 0; i < n_values; ++i) target->values[i] = 0.0f;
    return Status::Ok();
  };
  unlabelled.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
    TW_RETURN_IF_ERROR(examples.read(index, inputs, target));
    return fill(target);
  };
  if (examples.key) {
    unlabelled.target = [=](int64_t, ExampleTarget* target) { return fill(target); };
  }
  return Extract(unlabelled, progress, cache);
}

void TrainingSet::NoteChange() {
  digest_.clear();
  is_fitted_ = false;
  weights_old_ = true;
}

Status TrainingSet::Add(const Examples& examples, const FeatureProgress& progress) {
  if (replay() == nullptr) {
    last_added_.resize(static_cast<size_t>(examples.count));
    std::iota(last_added_.begin(), last_added_.end(), cache_->size());
    TW_RETURN_IF_ERROR(Extract(examples, progress, cache_.get()));
    NoteChange();
    return Status::Ok();
  }
  const std::unique_ptr<FeatureCache> fresh = NewCache(true);
  TW_RETURN_IF_ERROR(Extract(examples, progress, fresh.get()));
  return AddToReplay(*fresh);
}

// The memory's places are the examples of the cache.
void TrainingSet::MatchReplay() {
  if (replay() == nullptr) return;
  const std::vector<int32_t> none(cache_->uses_labels() ? 0 : static_cast<size_t>(size()), 0);
  replay_->Reset(cache_->uses_labels() ? cache_->labels() : Span<const int32_t>(none));
}

// Offers every new example to the memory, which says where it goes, if anywhere.
Status TrainingSet::AddToReplay(const FeatureCache& fresh) {
  const int64_t n_rows = fresh.n_variants() + 1;
  std::vector<float> rows(static_cast<size_t>(n_rows * dim()));
  TW_RETURN_IF_ERROR(
      cache_->Reserve(std::min(fresh.size(), replay_->capacity() - replay_->size())));
  NoteChange();
  last_added_.clear();
  for (int64_t i = 0; i < fresh.size(); ++i) {
    const int64_t slot = replay_->Offer(fresh.uses_labels() ? fresh.label(i) : 0);
    last_added_.push_back(slot);
    if (slot < 0) continue;
    for (int64_t v = 0; v < n_rows; ++v) {
      float* to = rows.data() + v * dim();
      const float* row = fresh.row(i, static_cast<int>(v), to);
      if (row != to) std::copy(row, row + dim(), to);
    }
    ExampleTarget target;
    target.group = fresh.group(i);
    std::vector<float> values;
    if (fresh.uses_labels()) {
      target.label = fresh.label(i);
    } else {
      values.assign(fresh.values(i), fresh.values(i) + options_.n_classes);
      target.values = values.data();
    }
    const Status placed = slot < cache_->size() ? cache_->Replace(slot, rows.data(), target)
                                                : cache_->Append(rows.data(), target);
    if (!placed.ok()) {  // the memory has a place for it, the cache does not: what is there counts
      last_added_.pop_back();
      MatchReplay();
      return placed;
    }
    if (target.group >= 0) moved_ = JoinGroup(static_cast<int32_t>(slot)) || moved_;
  }
  return Status::Ok();
}

// Moves an example that is in one part, while its group is in the other one; false: it stays.
bool TrainingSet::JoinGroup(int32_t example) {
  for (std::vector<int32_t>* from : {&train_, &validation_}) {
    std::vector<int32_t>* to = from == &train_ ? &validation_ : &train_;
    const auto at = std::find(from->begin(), from->end(), example);
    const auto is_of_group = [&](int32_t i) { return cache_->group(i) == cache_->group(example); };
    if (at == from->end() || std::none_of(to->begin(), to->end(), is_of_group)) continue;
    from->erase(at);
    to->insert(std::upper_bound(to->begin(), to->end(), example), example);
    return true;
  }
  return false;
}

Status TrainingSet::SetNames(const std::vector<std::string>& names) {
  const bool all = static_cast<int64_t>(names.size()) == size();
  if (!all && names.size() != last_added_.size()) {
    return InvalidArgument("there are {} names, but {} examples, of which {} were added last",
                           names.size(), size(), last_added_.size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t at = all ? static_cast<int64_t>(i) : last_added_[i];
    if (at >= 0 && at < size()) cache_->SetName(at, names[i]);
  }
  return Status::Ok();
}

Status TrainingSet::AddFeatures(const float* features, const int32_t* labels, int64_t n) {
  if (!cache_->uses_labels() || cache_->n_variants() > 0) {
    return FailedPrecondition(
        "features with labels suit the softmax loss without augmentation; the loss is '{}'",
        LossName(options_.loss.loss));
  }
  for (int64_t i = 0; i < n; ++i) {
    if (labels[i] >= 0 && labels[i] < options_.n_classes) continue;
    return InvalidArgument("example {} has label {}; labels are 0 to {}", i, labels[i],
                           options_.n_classes - 1);
  }
  const std::unique_ptr<FeatureCache> fresh = replay() != nullptr ? NewCache(true) : nullptr;
  FeatureCache* to = fresh != nullptr ? fresh.get() : cache_.get();
  const int64_t before = to->size();
  TW_RETURN_IF_ERROR(to->Reserve(n));
  for (int64_t i = 0; i < n; ++i) {
    ExampleTarget target;
    target.label = labels[i];
    const Status status = to->Append(features + i * dim(), target);
    if (status.ok()) continue;
    to->Truncate(before);
    return status;
  }
  if (replay() != nullptr) return AddToReplay(*fresh);
  NoteChange();
  return Status::Ok();
}

Status TrainingSet::CheckTrainable() const {
  if (cache_->size() == 0) {
    return FailedPrecondition("there are no examples: add some before training");
  }
  if (!cache_->uses_labels()) return Status::Ok();
  const Span<const int32_t> labels = cache_->labels();
  const int32_t first = labels[0];
  if (std::any_of(labels.begin(), labels.end(), [=](int32_t label) { return label != first; })) {
    return Status::Ok();
  }
  return InvalidArgument("all {} examples are of one class ({}); training needs two or more",
                         cache_->size(), first);
}

// Groups of the examples that are in neither part yet.
Span<const int32_t> TrainingSet::NewGroups() const {
  const Span<const int32_t> all = cache_->groups();
  return {all.data() + n_split_, all.size() - static_cast<size_t>(n_split_)};
}

// The part that each group is in already.
std::map<int64_t, int64_t> TrainingSet::SidesOfGroups() const {
  std::map<int64_t, int64_t> held_back;
  for (int32_t i : train_) held_back[cache_->group(i)] = 0;
  for (int32_t i : validation_) held_back[cache_->group(i)] = 1;
  held_back.erase(-1);
  return held_back;
}

Status TrainingSet::Split(bool in_epoch) {
  TW_RETURN_IF_ERROR(CheckTrainable());
  if (weights_old_) UpdateWeights();
  const int64_t n_new = in_epoch ? 0 : cache_->size() - n_split_;
  if (n_new == 0) return Status::Ok();
  const bool values = !cache_->uses_labels();
  std::vector<int32_t> labels(static_cast<size_t>(n_new), 0);
  for (int64_t i = 0; i < n_new && !values; ++i) {
    labels[static_cast<size_t>(i)] = cache_->label(n_split_ + i);
  }
  const SplitOptions how = {values ? 1 : options_.n_classes, options_.validation_fraction,
                            options_.seed + static_cast<uint64_t>(n_split_)};
  const topwork::Split split = cache_->groups().empty()
                                   ? StratifiedSplit(labels, how)
                                   : GroupSplit(labels, NewGroups(), SidesOfGroups(), how);
  const int32_t offset = static_cast<int32_t>(n_split_);
  for (int32_t i : split.train) train_.push_back(offset + i);
  for (int32_t i : split.validation) validation_.push_back(offset + i);
  n_split_ = cache_->size();
  UpdateWeights();
  return Status::Ok();
}

Result<std::vector<int32_t>> TrainingSet::IndicesOf(ExampleSet set) const {
  std::vector<int32_t> indices = set == ExampleSet::kTrain ? train_ : validation_;
  if (set == ExampleSet::kAll) {
    indices.resize(static_cast<size_t>(cache_->size()));
    std::iota(indices.begin(), indices.end(), 0);
  }
  if (indices.empty()) {
    return FailedPrecondition("no examples are kept for validation (validation_fraction is {})",
                              options_.validation_fraction);
  }
  return indices;
}

// n / (C · n_c), as scikit-learn's class_weight="balanced"; a class without examples weighs 1.
void TrainingSet::UpdateWeights() {
  weights_old_ = false;
  UpdateExampleWeights();
  if (options_.balance_classes != Balance::kWeights) return;
  std::vector<int64_t> counts(static_cast<size_t>(options_.n_classes), 0);
  for (int32_t i : train_) ++counts[static_cast<size_t>(cache_->label(i))];
  loss_.class_weights.clear();
  for (int64_t count : counts) {
    const double weight = static_cast<double>(train_.size()) /
                          (static_cast<double>(options_.n_classes) * static_cast<double>(count));
    loss_.class_weights.push_back(count > 0 ? static_cast<float>(weight) : 1.0f);
  }
}

// A held-back example weighs as the training examples of its cell, or 1.
void TrainingSet::UpdateExampleWeights() {
  example_weights_.clear();
  if (!options_.balance_groups) return;
  std::map<int64_t, int64_t> cells;
  const auto cell_of = [&](int32_t i) {
    const int64_t label = cache_->uses_labels() ? cache_->label(i) : 0;
    return (label << 32) + cache_->group(i);
  };
  for (int32_t i : train_) ++cells[cell_of(i)];
  example_weights_.resize(static_cast<size_t>(cache_->size()), 1.0f);
  const double share = static_cast<double>(train_.size()) / static_cast<double>(cells.size());
  for (int32_t i = 0; i < cache_->size(); ++i) {
    const auto cell = cells.find(cell_of(i));
    if (cell == cells.end()) continue;
    example_weights_[static_cast<size_t>(i)] =
        static_cast<float>(share / static_cast<double>(cell->second));
  }
}

TrainingSet::OnlyForTraining::OnlyForTraining(TrainingSet* set, std::vector<int32_t> examples)
    : set_(*set), train_(std::move(set->train_)), validation_(std::move(set->validation_)) {
  set_.validation_.clear();
  set_.train_ = std::move(examples);
  set_.UpdateWeights();
}

TrainingSet::OnlyForTraining::OnlyForTraining(TrainingSet* set)
    : OnlyForTraining(set, std::vector<int32_t>()) {
  set_.train_ = train_;
  set_.train_.insert(set_.train_.end(), validation_.begin(), validation_.end());
  std::sort(set_.train_.begin(), set_.train_.end());
  set_.UpdateWeights();
}

TrainingSet::OnlyForTraining::~OnlyForTraining() {
  set_.train_ = std::move(train_);
  set_.validation_ = std::move(validation_);
  set_.UpdateWeights();
}

std::vector<int32_t> KeepClasses(const ClassSources& sources, FeatureCache* cache) {
  std::vector<int32_t> new_index(static_cast<size_t>(cache->size()), -1);
  if (!cache->uses_labels()) {
    cache->MapOutputs(sources);
    std::iota(new_index.begin(), new_index.end(), 0);
    return new_index;
  }
  const auto class_of = [&](int32_t label) {
    for (size_t c = 0; c < sources.size(); ++c) {
      if (std::count(sources[c].begin(), sources[c].end(), label) > 0) {
        return static_cast<int32_t>(c);
      }
    }
    return -1;
  };
  std::vector<int64_t> kept;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < cache->size(); ++i) {
    const int32_t label = class_of(cache->label(i));
    if (label < 0) continue;
    new_index[static_cast<size_t>(i)] = static_cast<int32_t>(kept.size());
    kept.push_back(i);
    labels.push_back(label);
  }
  cache->Keep(kept);
  std::copy(labels.begin(), labels.end(), cache->mutable_labels().begin());
  return new_index;
}

void TrainingSet::ChangeClasses(const ClassSources& sources) {
  const std::vector<int32_t> new_index = KeepClasses(sources, cache_.get());
  const auto renumber = [&](std::vector<int32_t>* indices) {
    std::vector<int32_t> renumbered;
    for (int32_t i : *indices) {
      if (new_index[static_cast<size_t>(i)] >= 0) {
        renumbered.push_back(new_index[static_cast<size_t>(i)]);
      }
    }
    *indices = std::move(renumbered);
  };
  renumber(&train_);
  renumber(&validation_);
  n_split_ = static_cast<int64_t>(train_.size() + validation_.size());
  last_added_.clear();
  MatchReplay();
  NoteChange();
  UpdateWeights();
}

void TrainingSet::Adopt(Contents contents) {
  if (!kTrainsLastAlone && contents.replay != nullptr) replay_ = std::move(contents.replay);
  if (contents.cache != nullptr) {
    cache_ = std::move(contents.cache);
    last_added_.clear();
    NoteChange();
  }
  train_ = std::move(contents.train);
  validation_ = std::move(contents.validation);
  n_split_ = static_cast<int64_t>(train_.size() + validation_.size());
  is_fitted_ = contents.is_fitted && n_split_ == size();
  UpdateWeights();
}

}  // namespace topwork
