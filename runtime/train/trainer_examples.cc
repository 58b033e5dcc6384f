// The examples of a trainer: features of new ones, the bounded memory, the split and class weights.
#include <algorithm>
#include <utility>

#include "runtime/train/features/split.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/trainer.h"

namespace topwork {

Status Trainer::Extract(const Examples& examples, const FeatureProgress& progress,
                        FeatureCache* cache) {
  const auto watch = [&](int64_t n_done, int64_t n_total) {
    if (cancel_.load()) return false;
    return !progress || progress(n_done, n_total);
  };
  if (cancel_.exchange(false)) return Cancelled("feature extraction was cancelled");
  extracting_.store(true);
  const Status status = extractor_->Extract(examples, n_classes(), watch, cache);
  extracting_.store(false);
  NoteWorking(extractor_->staging_bytes() + (cache != cache_.get() ? cache->bytes() : 0));
  if (status.code() == StatusCode::kCancelled) cancel_.store(false);
  return status;
}

// Examples whose targets nobody asks for.
Status Trainer::ExtractUnlabelled(const Examples& examples, FeatureCache* cache) {
  Examples unlabelled = examples;
  const int n_values = UsesLabels(options_.loss.loss) ? 0 : n_classes();
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
  return Extract(unlabelled, nullptr, cache);
}

Status Trainer::AddExamples(const Examples& examples, const FeatureProgress& progress) {
  examples_digest_.clear();
  if (replay_ == nullptr) return Extract(examples, progress, cache_.get());
  const std::unique_ptr<FeatureCache> fresh = NewCache(true);
  TW_RETURN_IF_ERROR(Extract(examples, progress, fresh.get()));
  return AddToReplay(*fresh);
}

// Offers every new example to the memory, which says where it goes, if anywhere.
Status Trainer::AddToReplay(const FeatureCache& fresh) {
  const int64_t n_rows = fresh.n_variants() + 1;
  std::vector<float> rows(static_cast<size_t>(n_rows * dim()));
  for (int64_t i = 0; i < fresh.size(); ++i) {
    TW_RETURN_IF_ERROR(cache_->Reserve(1));
    const int64_t slot = replay_->Offer(fresh.uses_labels() ? fresh.label(i) : 0);
    if (slot < 0) continue;
    for (int64_t v = 0; v < n_rows; ++v) {
      float* to = rows.data() + v * dim();
      const float* row = fresh.row(i, static_cast<int>(v), to);
      if (row != to) std::copy(row, row + dim(), to);
    }
    ExampleTarget target;
    std::vector<float> values;
    if (fresh.uses_labels()) {
      target.label = fresh.label(i);
    } else {
      values.assign(fresh.values(i), fresh.values(i) + n_classes());
      target.values = values.data();
    }
    TW_RETURN_IF_ERROR(slot < cache_->size() ? cache_->Replace(slot, rows.data(), target)
                                             : cache_->Append(rows.data(), target));
  }
  return Status::Ok();
}

Status Trainer::AddFeatures(const float* features, const int32_t* labels, int64_t n) {
  if (!cache_->uses_labels() || cache_->n_variants() > 0) {
    return FailedPrecondition(
        "features with labels suit the softmax loss without augmentation; the loss is '%s'",
        LossName(options_.loss.loss));
  }
  for (int64_t i = 0; i < n; ++i) {
    if (labels[i] >= 0 && labels[i] < n_classes()) continue;
    return InvalidArgument("example %lld has label %d; labels are 0 to %d",
                           static_cast<long long>(i), labels[i], n_classes() - 1);
  }
  examples_digest_.clear();
  const std::unique_ptr<FeatureCache> fresh = replay_ != nullptr ? NewCache(true) : nullptr;
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
  return fresh != nullptr ? AddToReplay(*fresh) : Status::Ok();
}

Status Trainer::CheckTrainable() const {
  if (cache_->size() == 0) {
    return FailedPrecondition("there are no examples: add some before training");
  }
  if (!cache_->uses_labels()) return Status::Ok();
  const Span<const int32_t> labels = cache_->labels();
  const int32_t first = labels[0];
  if (std::any_of(labels.begin(), labels.end(), [=](int32_t label) { return label != first; })) {
    return Status::Ok();
  }
  return InvalidArgument("all %lld examples are of one class (%d); training needs two or more",
                         static_cast<long long>(cache_->size()), first);
}

// Examples that came since the last split are split among themselves; sets once made stay.
void Trainer::SplitNewExamples() {
  const int64_t n_new = cache_->size() - n_split_;
  if (n_new == 0) return;
  const bool values = !cache_->uses_labels();
  std::vector<int32_t> labels(static_cast<size_t>(n_new), 0);
  for (int64_t i = 0; i < n_new && !values; ++i) {
    labels[static_cast<size_t>(i)] = cache_->label(n_split_ + i);
  }
  const Split split =
      StratifiedSplit(labels, values ? 1 : n_classes(), options_.validation_fraction,
                      options_.seed + static_cast<uint64_t>(n_split_));
  const int32_t offset = static_cast<int32_t>(n_split_);
  for (int32_t i : split.train) train_.push_back(offset + i);
  for (int32_t i : split.validation) validation_.push_back(offset + i);
  n_split_ = cache_->size();
  lbfgs_.reset();  // what it has seen of the loss is that of other examples
  UpdateClassWeights();
}

Status Trainer::EnsureSplit() {
  TW_RETURN_IF_ERROR(CheckTrainable());
  SplitNewExamples();
  return Status::Ok();
}

// n / (C · n_c), as scikit-learn's class_weight="balanced"; a class without examples weighs 1.
void Trainer::UpdateClassWeights() {
  if (!options_.balance_classes) return;
  std::vector<int64_t> counts(static_cast<size_t>(n_classes()), 0);
  for (int32_t i : train_) ++counts[static_cast<size_t>(cache_->label(i))];
  loss_.class_weights.clear();
  for (int64_t count : counts) {
    const double weight = static_cast<double>(train_.size()) /
                          (static_cast<double>(n_classes()) * static_cast<double>(count));
    loss_.class_weights.push_back(count > 0 ? static_cast<float>(weight) : 1.0f);
  }
}

}  // namespace topwork
