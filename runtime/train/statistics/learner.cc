// Learner: examples that come, classes, and the head. What goes is in learner_selection.cc, files
// are in learner_file.cc.
#include "runtime/train/statistics/learner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/printable.h"

namespace topwork {
Learner::Learner(Trainer* trainer, double penalty, bool keeps_features)
    : trainer_(*trainer),
      given_penalty_(penalty),
      penalty_(std::max(0.0, penalty)),
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
  if (options.optimizer == Optimizer::kKnn) {
    return Unsupported("a learner's head is ridge regression; knn stores examples instead");
  }
  if (!(std::fabs(penalty) < 1e300)) {
    return InvalidArgument("the penalty is {}; it must be finite", penalty);
  }
  std::unique_ptr<Learner> learner(new Learner(trainer, penalty, keeps_features));
  TW_RETURN_IF_ERROR(learner->AddClasses(class_names).status());
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

Result<int32_t> Learner::AddClass(const std::string& name) {
  TW_ASSIGN_OR_RETURN(const std::vector<int32_t> labels, AddClasses({name}));
  return labels[0];
}

Result<std::vector<int32_t>> Learner::AddClasses(const std::vector<std::string>& added) {
  std::vector<std::string> names = class_names_;
  std::map<std::string, int32_t> places;
  for (const std::string& name : names) places.emplace(name, static_cast<int32_t>(places.size()));
  std::vector<int32_t> labels;
  for (const std::string& name : added) {
    const auto place = places.emplace(Printable(name), static_cast<int32_t>(places.size()));
    if (place.second) names.push_back(name);
    labels.push_back(place.first->second);
  }
  if (names.size() > class_names_.size()) TW_RETURN_IF_ERROR(SetClasses(names));
  return labels;
}

Status Learner::SetClasses(const std::vector<std::string>& names) {
  return SetClasses(names, WhereNamed(class_names_, names));
}

Status Learner::SetClasses(const std::vector<std::string>& names,
                           const std::vector<int32_t>& becomes) {
  TW_RETURN_IF_ERROR(CheckClassNames(names));
  for (size_t c = 0; c < class_names_.size(); ++c) {
    if (becomes[c] >= 0 || AsIndex(unkept_.n_classes()) <= c) continue;
    const int64_t n_unkept = unkept_.count(static_cast<int64_t>(c));
    if (n_unkept == 0) continue;
    return FailedPrecondition(
        "class '{}' has {} examples whose features are not kept: give them again to remove them",
        class_names_[c], n_unkept);
  }
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < n_kept(); ++i) {
    if (becomes[AsIndex(labels_[AsIndex(i)])] < 0) indices.push_back(i);
  }
  ForgetAll(indices);
  all_.MoveClasses(becomes, names.size());
  unkept_.MoveClasses(becomes, names.size());
  ridge_.MoveClasses(becomes, names.size());
  for (int32_t& label : labels_) label = becomes[AsIndex(label)];
  class_names_.clear();
  for (const std::string& name : names) class_names_.push_back(Printable(name));
  return Status::Ok();
}

Status Learner::Solve() {
  int n_taught = 0;
  for (int64_t c = 0; c < all_.n_classes(); ++c) n_taught += all_.count(c) > 0 ? 1 : 0;
  if (n_taught < 2) {
    return FailedPrecondition("{} class{} examples; a classifier needs two or more", n_taught,
                              n_taught == 1 ? " has" : "es have");
  }
  const bool outgrown =
      n_chosen_ > 0 && (all_.size() >= 2 * n_chosen_ || 2 * all_.size() <= n_chosen_);
  if (penalty_ == 0.0 || outgrown) TW_RETURN_IF_ERROR(ChoosePenalty());
  TW_RETURN_IF_ERROR(ridge_.Solve(examples(), penalty_));
  return AdoptHead();
}

// The trainer's last layer becomes the solution.
Status Learner::AdoptHead() {
  if (trainer_.classes().names() != class_names_) {
    const std::vector<int32_t> none(AsIndex(trainer_.classes().size()), -1);
    TW_RETURN_IF_ERROR(trainer_.classes().Set(class_names_, none));
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

// The trainer's examples become these, and its head one that was fitted to them: what refusing needs.
Status Learner::LendExamples() {
  TrainingSet::Contents contents;
  contents.cache = trainer_.set().NewCache(true);
  TW_RETURN_IF_ERROR(contents.cache->Reserve(n_kept()));
  for (int64_t i = 0; i < n_kept(); ++i) {
    const ExampleTarget target = {label(i), nullptr, group(i)};
    TW_RETURN_IF_ERROR(contents.cache->Append(rows_[AsIndex(i)].data(), target));
    contents.cache->SetName(i, id(i));
  }
  trainer_.AdoptExamples(std::move(contents));
  trainer_.state().choice.kind = HeadKind::kRidge;
  trainer_.state().choice.scaling = Scaling::kShrunken;
  trainer_.state().choice.penalty = penalty_;
  return Status::Ok();
}

Result<std::vector<uint8_t>> Learner::Export() {
  TW_RETURN_IF_ERROR(Solve());
  if (n_kept() < statistics().size()) return trainer_.Export();
  TW_RETURN_IF_ERROR(LendExamples());
  Result<std::vector<uint8_t>> bytes = trainer_.Export();
  TrainingSet::Contents none;
  none.cache = trainer_.set().NewCache(true);
  trainer_.AdoptExamples(std::move(none));
  trainer_.state().choice = HeadChoice();
  return bytes;
}

}  // namespace topwork
