// Learner: examples and classes that come and go, and the head. Files are in learner_file.cc.
#include "runtime/train/statistics/learner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/base/printable.h"

namespace topwork {
Learner::Learner(Trainer* trainer, double penalty, bool keeps_features)
    : trainer_(*trainer),
      penalty_(penalty),
      keeps_features_(keeps_features),
      all_(trainer->set().dim(), false),
      unkept_(trainer->set().dim(), !keeps_features) {}

Result<std::unique_ptr<Learner>> Learner::Create(Trainer* trainer,
                                                 std::vector<std::string> class_names,
                                                 double penalty, bool keeps_features) {
  const TrainerOptions& options = trainer->options();
  if (options.loss.loss != Loss::kSoftmaxCrossEntropy || options.n_layers != 1 ||
      options.n_hidden + options.n_projected > 0 || options.augmentation.n_variants > 0) {
    return Unsupported(
        "a learner teaches the last layer classes, without augmentation; the options ask for the "
        "loss '{}', {} layers, {} variants",
        LossName(options.loss.loss), options.n_layers, options.augmentation.n_variants);
  }
  if (!(penalty >= 0.0 && penalty < 1e300)) {
    return InvalidArgument("the penalty is {}; it must be at least 0 and finite", penalty);
  }
  std::unique_ptr<Learner> learner(new Learner(trainer, penalty, keeps_features));
  for (const std::string& name : class_names) {
    TW_RETURN_IF_ERROR(learner->AddClass(name).status());
  }
  return learner;
}

RidgeExamples Learner::examples() const {
  return {&all_, unkept_.size() > 0 ? &unkept_ : nullptr, &rows_, &labels_};
}

size_t Learner::bytes() const {
  return ridge_.bytes() + rows_.size() * AsIndex(all_.dim()) * sizeof(float) +
         unkept_.scatter().size() * sizeof(double);
}

int64_t Learner::Find(const std::string& id) const {
  return std::find(ids_.begin(), ids_.end(), id) - ids_.begin();
}

// Features of examples, and their targets.
Status Learner::Extract(const Examples& examples, const FeatureProgress& progress,
                        std::unique_ptr<FeatureCache>* out_cache, std::vector<ExampleTarget>* out) {
  out->assign(AsIndex(examples.count), ExampleTarget());
  Examples watched = examples;
  const auto take = [out](int64_t index, ExampleTarget* target) {
    (*out)[AsIndex(index)] = *target;
    target->label = 0;  // classes here are not those of the trainer
    return Status::Ok();
  };
  watched.read = [&](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
    TW_RETURN_IF_ERROR(examples.read(index, inputs, target));
    return take(index, target);
  };
  if (examples.target) {
    watched.target = [&](int64_t index, ExampleTarget* target) {
      TW_RETURN_IF_ERROR(examples.target(index, target));
      return take(index, target);
    };
  }
  *out_cache = trainer_.set().NewCache(false);
  TW_RETURN_IF_ERROR(trainer_.Extract(watched, progress, out_cache->get()));
  for (size_t i = 0; i < out->size(); ++i) {
    const int32_t label = (*out)[i].label;
    if (label >= 0 && AsIndex(label) < class_names_.size()) continue;
    return InvalidArgument("example {} has the label {}; there are {} classes", i, label,
                           class_names_.size());
  }
  return Status::Ok();
}

Status Learner::CheckIds(const std::vector<std::string>& ids, int64_t count) const {
  if (static_cast<int64_t>(ids.size()) != count) {
    return InvalidArgument("{} ids for {} examples", ids.size(), count);
  }
  std::set<std::string> known(ids_.begin(), ids_.end());
  for (const std::string& id : ids) {
    if (id.empty()) return InvalidArgument("the id of an example is empty");
    if (known.insert(id).second) continue;
    const bool there = Find(id) < n_kept();
    return InvalidArgument("the example '{}' {}; nothing was added", id,
                           there
                               ? "is there already: remove it first, or give the new one another id"
                               : "is given twice");
  }
  return Status::Ok();
}

// Many changes at once cost more one by one than solving anew.
void Learner::Prepare(int64_t n_changes) {
  if (8 * n_changes > std::min(all_.size(), all_.dim())) ridge_.Reset();
}

void Learner::Learn(const float* row, int32_t label, int32_t group, const std::string& id) {
  all_.Change(row, label, 1);
  rows_.emplace_back(row, row + all_.dim());
  labels_.push_back(label);
  groups_.push_back(group);
  ids_.push_back(id);
  ridge_.Change(examples(), rows_.back().data(), label, n_kept() - 1, 1);
}

Status Learner::Add(const Examples& given, const std::vector<std::string>& ids,
                    const FeatureProgress& progress) {
  if (keeps_features_) TW_RETURN_IF_ERROR(CheckIds(ids, given.count));
  std::unique_ptr<FeatureCache> cache;
  std::vector<ExampleTarget> targets;
  TW_RETURN_IF_ERROR(Extract(given, progress, &cache, &targets));
  Prepare(cache->size());
  std::vector<float> scratch(cache->scratch_floats());
  for (int64_t i = 0; i < cache->size(); ++i) {
    const float* row = cache->row(i, 0, scratch.data());
    const ExampleTarget& target = targets[AsIndex(i)];
    if (keeps_features_) {
      Learn(row, target.label, target.group, ids[AsIndex(i)]);
    } else {
      all_.Change(row, target.label, 1);
      unkept_.Change(row, target.label, 1);
      ridge_.Change(examples(), row, target.label, -1, 1);
    }
  }
  return Status::Ok();
}

Status Learner::Subtract(const Examples& given, const FeatureProgress& progress) {
  std::unique_ptr<FeatureCache> cache;
  std::vector<ExampleTarget> targets;
  TW_RETURN_IF_ERROR(Extract(given, progress, &cache, &targets));
  Statistics rest = unkept_;
  std::vector<float> scratch(cache->scratch_floats());
  for (int64_t i = 0; i < cache->size(); ++i) {
    const float* row = cache->row(i, 0, scratch.data());
    if (!rest.Holds(row, targets[AsIndex(i)].label)) {
      return FailedPrecondition(
          "example {} cannot be among the {} examples without features that were learnt", i,
          unkept_.size());
    }
    rest.Change(row, targets[AsIndex(i)].label, -1);
  }
  Prepare(cache->size());
  unkept_ = std::move(rest);
  for (int64_t i = 0; i < cache->size(); ++i) {
    const float* row = cache->row(i, 0, scratch.data());
    all_.Change(row, targets[AsIndex(i)].label, -1);
    ridge_.Change(examples(), row, targets[AsIndex(i)].label, -1, -1);
  }
  return Status::Ok();
}

void Learner::Forget(int64_t index) {
  const std::vector<float> row = std::move(rows_[AsIndex(index)]);
  const int32_t label = labels_[AsIndex(index)];
  rows_.erase(rows_.begin() + index);
  ids_.erase(ids_.begin() + index);
  labels_.erase(labels_.begin() + index);
  groups_.erase(groups_.begin() + index);
  all_.Change(row.data(), label, -1);
  ridge_.Change(examples(), row.data(), label, index, -1);
}

// Ascending indices.
Status Learner::ForgetAll(const std::vector<int64_t>& indices) {
  Prepare(static_cast<int64_t>(indices.size()));
  for (size_t i = indices.size(); i > 0; --i) Forget(indices[i - 1]);
  return Status::Ok();
}

Status Learner::Remove(const std::vector<std::string>& ids) {
  std::set<int64_t> indices;
  for (const std::string& id : ids) {
    const int64_t index = Find(id);
    if (index == n_kept()) {
      return NotFound("there is no example '{}' among the {} with features; nothing was removed",
                      id, n_kept());
    }
    indices.insert(index);
  }
  return ForgetAll({indices.begin(), indices.end()});
}

Status Learner::RemoveGroup(int32_t group) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < n_kept(); ++i) {
    if (groups_[AsIndex(i)] == group) indices.push_back(i);
  }
  if (indices.empty()) return NotFound("there is no example of group {}", group);
  return ForgetAll(indices);
}

Status Learner::Relabel(const std::string& id, int32_t label) {
  const int64_t index = Find(id);
  if (index == n_kept()) return NotFound("there is no example '{}'", id);
  if (label < 0 || AsIndex(label) >= class_names_.size()) {
    return InvalidArgument("the label is {}; there are {} classes", label, class_names_.size());
  }
  const float* row = rows_[AsIndex(index)].data();
  const int32_t before = labels_[AsIndex(index)];
  if (before == label) return Status::Ok();
  labels_[AsIndex(index)] = label;
  all_.Relabel(row, before, label);
  ridge_.Relabel(examples(), row, before, label);
  return Status::Ok();
}

void Learner::DropFeatures() {
  if (unkept_.scatter().empty()) unkept_ = Statistics(all_.dim(), true);
  for (int64_t i = 0; i < n_kept(); ++i) {
    unkept_.Change(rows_[AsIndex(i)].data(), labels_[AsIndex(i)], 1);
  }
  rows_.clear();
  ids_.clear();
  labels_.clear();
  groups_.clear();
  ridge_.Reset();
}

Result<int32_t> Learner::AddClass(const std::string& name) {
  const auto found = std::find(class_names_.begin(), class_names_.end(), Printable(name));
  const int32_t index = static_cast<int32_t>(found - class_names_.begin());
  if (name.empty()) return InvalidArgument("a class needs a name");
  if (found == class_names_.end()) {
    std::vector<int32_t> sources(class_names_.size() + 1, -1);
    for (int32_t c = 0; c < index; ++c) sources[AsIndex(c)] = c;
    class_names_.push_back(Printable(name));
    KeepClasses(sources);
  }
  return index;
}

// Class c is what class sources[c] was.
void Learner::KeepClasses(const std::vector<int32_t>& sources) {
  all_.Reorder(sources);
  unkept_.Reorder(sources);
  ridge_.Reorder(sources);
  for (int32_t& label : labels_) {
    label =
        static_cast<int32_t>(std::find(sources.begin(), sources.end(), label) - sources.begin());
  }
}

Status Learner::RemoveClass(int32_t index) {
  if (index < 0 || AsIndex(index) >= class_names_.size()) {
    return InvalidArgument("class {} does not exist; there are {}", index, class_names_.size());
  }
  if (unkept_.n_classes() > index && unkept_.count(index) > 0) {
    return FailedPrecondition(
        "class '{}' has {} examples whose features are not kept: give them again to remove them",
        class_names_[AsIndex(index)], unkept_.count(index));
  }
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < n_kept(); ++i) {
    if (labels_[AsIndex(i)] == index) indices.push_back(i);
  }
  TW_RETURN_IF_ERROR(ForgetAll(indices));
  std::vector<int32_t> sources;
  for (int32_t c = 0; AsIndex(c) < class_names_.size(); ++c) {
    if (c != index) sources.push_back(c);
  }
  class_names_.erase(class_names_.begin() + index);
  KeepClasses(sources);
  return Status::Ok();
}

Status Learner::RenameClass(int32_t index, const std::string& name) {
  if (index < 0 || AsIndex(index) >= class_names_.size()) {
    return InvalidArgument("class {} does not exist; there are {}", index, class_names_.size());
  }
  const auto found = std::find(class_names_.begin(), class_names_.end(), Printable(name));
  if (name.empty() || (found != class_names_.end() && found - class_names_.begin() != index)) {
    return InvalidArgument("class '{}' cannot be called '{}': {}", class_names_[AsIndex(index)],
                           name, name.empty() ? "a name is needed" : "another class has that name");
  }
  class_names_[AsIndex(index)] = Printable(name);
  return Status::Ok();
}

Status Learner::Solve(double penalty) {
  int n_taught = 0;
  for (int64_t c = 0; c < all_.n_classes(); ++c) n_taught += all_.count(c) > 0 ? 1 : 0;
  if (n_taught < 2) {
    return FailedPrecondition("{} class{} examples; a classifier needs two or more", n_taught,
                              n_taught == 1 ? " has" : "es have");
  }
  if (penalty > 0.0) {
    penalty_ = penalty;
    n_chosen_ = 0;
  }
  if (penalty < 0.0 || penalty_ == 0.0) TW_RETURN_IF_ERROR(ChoosePenalty());
  TW_RETURN_IF_ERROR(ridge_.Solve(examples(), penalty_));
  return AdoptHead();
}

// The trainer's last layer becomes the solution.
Status Learner::AdoptHead() {
  if (trainer_.classes().names() != class_names_) {
    const std::vector<int> fresh(class_names_.size(), -1);
    TW_RETURN_IF_ERROR(trainer_.classes().Set(class_names_, fresh));
  }
  std::vector<double> weights, bias;
  ridge_.Head(examples(), &weights, &bias);
  TrainingState& state = trainer_.state();
  TW_RETURN_IF_ERROR(state.SetWeights(std::vector<float>(weights.begin(), weights.end()),
                                      std::vector<float>(bias.begin(), bias.end())));
  state.temperature = temperature_;
  std::fill(state.fresh_classes.begin(), state.fresh_classes.end(), false);
  return Status::Ok();
}

}  // namespace topwork
