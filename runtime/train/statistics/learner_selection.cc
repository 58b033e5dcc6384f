// Examples of a learner that go, or become others.
#include <set>
#include <utility>

#include "runtime/train/statistics/learner.h"

namespace topwork {

// Examples without features, computed anew.
struct Learner::Unkept {
  std::unique_ptr<FeatureCache> cache;  // null: none
  std::vector<ExampleTarget> targets;
  Statistics rest;  // of those that remain

  int64_t size() const { return static_cast<int64_t>(targets.size()); }
  // Calls function(row, label) for each.
  template <typename F>
  void Visit(F function) const {
    std::vector<float> scratch(cache == nullptr ? 0 : cache->scratch_floats());
    for (int64_t i = 0; i < size(); ++i) {
      function(cache->row(i, 0, scratch.data()), targets[AsIndex(i)].label);
    }
  }
};

// Indices of the kept examples, ascending.
Status Learner::FindKept(const LearnerSelection& selection, std::vector<int64_t>* out) const {
  std::set<int64_t> found;
  for (const std::string& id : selection.ids) {
    const int64_t index = Find(id);
    if (index == n_kept()) {
      return NotFound("there is no example '{}' among the {} with features; nothing was changed",
                      id, n_kept());
    }
    found.insert(index);
  }
  for (const int32_t group : selection.groups) {
    if (group < 0) {
      return InvalidArgument(
          "group {} stands for no group: choose such examples by their names; nothing was changed",
          group);
    }
    bool is_there = false;
    for (int64_t i = 0; i < n_kept(); ++i) {
      if (groups_[AsIndex(i)] != group) continue;
      is_there = true;
      found.insert(i);
    }
    if (!is_there) return NotFound("there is no example of group {}; nothing was changed", group);
  }
  out->assign(found.begin(), found.end());
  return Status::Ok();
}

Status Learner::FindUnkept(const LearnerSelection& selection, Unkept* out) {
  out->rest = unkept_;
  if (selection.examples == nullptr) return Status::Ok();
  TW_RETURN_IF_ERROR(Extract(*selection.examples, selection.progress, &out->cache, &out->targets));
  int64_t n_found = 0;
  out->Visit([&](const float* row, int32_t label) {
    if (n_found < 0 || !out->rest.Holds(row, label)) {
      n_found = n_found < 0 ? n_found : -1 - n_found;
      return;
    }
    out->rest.Change(row, label, -1);
    ++n_found;
  });
  if (n_found >= 0) return Status::Ok();
  return FailedPrecondition(
      "example {} cannot be among the {} examples without features that were learnt", -1 - n_found,
      unkept_.size());
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
void Learner::ForgetAll(const std::vector<int64_t>& indices) {
  Prepare(static_cast<int64_t>(indices.size()));
  for (size_t i = indices.size(); i > 0; --i) Forget(indices[i - 1]);
}

Status Learner::Remove(const LearnerSelection& selection) {
  std::vector<int64_t> kept;
  Unkept unkept;
  TW_RETURN_IF_ERROR(FindKept(selection, &kept));
  TW_RETURN_IF_ERROR(FindUnkept(selection, &unkept));
  Prepare(unkept.size());
  unkept_ = std::move(unkept.rest);
  unkept.Visit([&](const float* row, int32_t label) {
    all_.Change(row, label, -1);
    ridge_.Change(examples(), row, label, -1, -1);
  });
  ForgetAll(kept);
  return Status::Ok();
}

Status Learner::Relabel(const LearnerSelection& selection, int32_t label) {
  if (label < 0 || AsIndex(label) >= class_names_.size()) {
    return InvalidArgument("the label is {}; there are {} classes", label, class_names_.size());
  }
  std::vector<int64_t> kept;
  Unkept unkept;
  TW_RETURN_IF_ERROR(FindKept(selection, &kept));
  TW_RETURN_IF_ERROR(FindUnkept(selection, &unkept));
  Prepare(unkept.size() + static_cast<int64_t>(kept.size()));
  const auto change = [&](const float* row, int32_t before) {
    all_.Relabel(row, before, label);
    ridge_.Relabel(examples(), row, before, label);
  };
  unkept.Visit([&](const float* row, int32_t) { unkept.rest.Change(row, label, 1); });
  unkept_ = std::move(unkept.rest);
  unkept.Visit(change);
  for (const int64_t i : kept) {
    const int32_t before = std::exchange(labels_[AsIndex(i)], label);
    if (before != label) change(rows_[AsIndex(i)].data(), before);
  }
  return Status::Ok();
}

}  // namespace topwork
