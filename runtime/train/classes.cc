// Changing the label set of a trainer: every change is one list of old and new classes.
#include <algorithm>
#include <utility>

#include "runtime/base/printable.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/trainer.h"

namespace topwork {
namespace {

// Rows of [n_old, width] by their old index into [n_new, width]; new ones are zero.
std::vector<float> MoveRows(Span<const float> old, int64_t width, const std::vector<int>& sources) {
  std::vector<float> moved(sources.size() * static_cast<size_t>(width), 0.0f);
  for (size_t c = 0; c < sources.size(); ++c) {
    if (sources[c] < 0) continue;
    const float* from = old.data() + sources[c] * width;
    std::copy(from, from + width, moved.data() + static_cast<int64_t>(c) * width);
  }
  return moved;
}

// A flat vector in `layout` with the last layer's rows moved.
std::vector<float> MoveHead(Span<const float> old, const std::vector<ParameterInfo>& layout,
                            const std::vector<int>& sources) {
  std::vector<float> moved;
  if (old.empty()) return moved;
  for (const ParameterInfo& info : layout) {
    const Span<const float> part(old.data() + info.offset, static_cast<size_t>(info.size));
    if (info.name == kHeadWeights || info.name == kHeadBias) {
      const std::vector<float> rows = MoveRows(part, info.size / info.dims[0], sources);
      moved.insert(moved.end(), rows.begin(), rows.end());
    } else {
      moved.insert(moved.end(), part.begin(), part.end());
    }
  }
  return moved;
}

// Gives examples their new labels and drops those whose class is gone (−1). For every old example
// its new index, or −1.
std::vector<int32_t> KeepLabels(const std::vector<int32_t>& new_labels, FeatureCache* cache) {
  std::vector<int64_t> kept;
  std::vector<int32_t> new_index(static_cast<size_t>(cache->size()), -1);
  for (int64_t i = 0; i < cache->size(); ++i) {
    if (new_labels[static_cast<size_t>(cache->label(i))] < 0) continue;
    new_index[static_cast<size_t>(i)] = static_cast<int32_t>(kept.size());
    kept.push_back(i);
  }
  cache->Keep(kept);
  for (int32_t& label : cache->mutable_labels()) label = new_labels[static_cast<size_t>(label)];
  return new_index;
}

void CopyTo(const std::vector<float>& from, Span<float> to) {
  std::copy(from.begin(),
            from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), to.size())),
            to.begin());
}

}  // namespace

Status Trainer::CheckClassChange() const {
  if (options_.loss.loss != Loss::kSoftmaxCrossEntropy) {
    return FailedPrecondition(
        "classes can be changed where every example has one class; with the loss '%s' an example "
        "has "
        "a value for every output, so make a new trainer with other outputs",
        LossName(options_.loss.loss));
  }
  if (!options_.loss.class_weights.empty()) {
    return FailedPrecondition(
        "classes cannot be changed with class_weights given; balance_classes adapts itself");
  }
  return Status::Ok();
}

// Names, or the classes' numbers where there are none.
std::vector<std::string> Trainer::NamesOrNumbers() const {
  if (!options_.class_names.empty()) return options_.class_names;
  std::vector<std::string> names;
  for (int c = 0; c < n_classes(); ++c) names.push_back(std::to_string(c));
  return names;
}

Status Trainer::AddClass(const std::string& name) {
  std::vector<ClassChange> changes;
  for (const std::string& old : NamesOrNumbers()) {
    if (old == name) return InvalidArgument("there is a class '%s' already", name.c_str());
    changes.push_back({old, static_cast<int>(changes.size())});
  }
  changes.push_back({name, -1});
  return ChangeClasses(changes);
}

Status Trainer::RemoveClass(int index) {
  if (index < 0 || index >= n_classes()) {
    return InvalidArgument("class %d does not exist; there are %d", index, n_classes());
  }
  std::vector<ClassChange> changes;
  const std::vector<std::string> names = NamesOrNumbers();
  for (int c = 0; c < n_classes(); ++c) {
    if (c != index) changes.push_back({names[static_cast<size_t>(c)], c});
  }
  return ChangeClasses(changes);
}

Status Trainer::RenameClass(int index, const std::string& name) {
  if (index < 0 || index >= n_classes()) {
    return InvalidArgument("class %d does not exist; there are %d", index, n_classes());
  }
  std::vector<std::string> names = NamesOrNumbers();
  names[static_cast<size_t>(index)].clear();
  if (name.empty() || std::count(names.begin(), names.end(), name) > 0) {
    return InvalidArgument("class %d cannot be called '%s': %s", index, name.c_str(),
                           name.empty() ? "a name is needed" : "another class has that name");
  }
  names[static_cast<size_t>(index)] = Printable(name);
  options_.class_names = std::move(names);
  return Status::Ok();
}

Status Trainer::SetClasses(const std::vector<std::string>& names) {
  const std::vector<std::string> old = NamesOrNumbers();
  std::vector<ClassChange> changes;
  for (const std::string& name : names) {
    const auto is_name = [&](const ClassChange& change) { return change.name == name; };
    if (name.empty() || std::any_of(changes.begin(), changes.end(), is_name)) {
      return InvalidArgument("the new classes hold %s",
                             name.empty() ? "an empty name" : ("'" + name + "' twice").c_str());
    }
    const auto found = std::find(old.begin(), old.end(), name);
    changes.push_back({name, found == old.end() ? -1 : static_cast<int>(found - old.begin())});
  }
  return ChangeClasses(changes);
}

Status Trainer::ChangeClasses(const std::vector<ClassChange>& classes) {
  TW_RETURN_IF_ERROR(CheckClassChange());
  const int n_new = static_cast<int>(classes.size());
  if (n_new < 2) return InvalidArgument("%d class would remain; two are needed", n_new);
  std::vector<int> sources;
  std::vector<int32_t> new_labels(static_cast<size_t>(n_classes()), -1);
  for (const ClassChange& change : classes) {
    if (change.old_index >= 0) {
      new_labels[static_cast<size_t>(change.old_index)] = static_cast<int32_t>(sources.size());
    }
    sources.push_back(change.old_index);
  }

  // The new network and optimizer are complete before anything of the old ones is given up.
  std::unique_ptr<Trainable> network;
  TW_RETURN_IF_ERROR(BuildNetwork(n_new, &network));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<OptimizerState> optimizer,
                      OptimizerState::Create(options_, network->layout(), &pool()));
  const std::vector<ParameterInfo>& layout = network_->layout();
  CopyTo(MoveHead(parameters(), layout, sources), network->parameters());
  CopyTo(MoveHead(optimizer_->moment1(), layout, sources), optimizer->moment1());
  CopyTo(MoveHead(optimizer_->moment2(), layout, sources), optimizer->moment2());
  optimizer->set_n_updates(optimizer_->n_updates());

  std::vector<bool> fresh;
  for (const ClassChange& change : classes) {
    const bool known = change.old_index >= 0;
    const size_t old_index = static_cast<size_t>(std::max(0, change.old_index));
    fresh.push_back(!known || fresh_classes_[old_index]);
  }
  RelabelExamples(new_labels);
  network_ = std::move(network);
  optimizer_ = std::move(optimizer);
  fresh_classes_ = std::move(fresh);
  options_.n_classes = n_new;
  options_.class_names.clear();
  for (const ClassChange& change : classes) options_.class_names.push_back(Printable(change.name));
  const std::vector<int> shipped = ShippedClassMap();
  if (std::all_of(shipped.begin(), shipped.end(), [](int c) { return c < 0; })) golden_.reset();
  temperature_ = 1.0;
  accepted_.clear();
  lbfgs_.reset();  // its history is that of other parameters
  UpdateClassWeights();
  ForgetBest();
  return Status::Ok();
}

// Of the golden set, too. An epoch in progress ends here: its order speaks of examples that may
// have gone.
void Trainer::RelabelExamples(const std::vector<int32_t>& new_labels) {
  if (golden_ != nullptr) {
    KeepLabels(new_labels, golden_.get());
    if (golden_->size() == 0) golden_.reset();
  }
  const std::vector<int32_t> new_index = KeepLabels(new_labels, cache_.get());
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
  if (replay_ != nullptr) replay_->Reset(cache_->labels());
  examples_digest_.clear();
  progress_.order.clear();
  progress_.position = 0;
  progress_.loss_sum = progress_.weight_sum = progress_.hits = 0.0;
}

}  // namespace topwork
