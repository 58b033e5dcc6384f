// Stratified split, of single examples and of groups.
#include "runtime/train/features/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/train/random.h"

namespace topwork {

Split StratifiedSplit(Span<const int32_t> labels, const SplitOptions& options) {
  std::vector<std::vector<int32_t>> classes(static_cast<size_t>(options.n_classes));
  for (size_t i = 0; i < labels.size(); ++i) {
    classes[static_cast<size_t>(labels[i])].push_back(static_cast<int32_t>(i));
  }
  Random random(options.seed);
  Split split;
  for (std::vector<int32_t>& members : classes) {
    const size_t n = members.size();
    size_t n_validation = 0;
    if (options.validation_fraction > 0.0f && n >= 2) {
      const double share =
          static_cast<double>(n) * static_cast<double>(options.validation_fraction);
      n_validation = std::clamp<size_t>(static_cast<size_t>(std::lround(share)), 1, n - 1);
    }
    random.Shuffle(&members);
    const auto middle = members.begin() + static_cast<std::ptrdiff_t>(n_validation);
    split.validation.insert(split.validation.end(), members.begin(), middle);
    split.train.insert(split.train.end(), middle, members.end());
  }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

namespace {

// Examples that stay together.
struct Group {
  std::vector<int32_t> members;
  bool held_back = false;
  bool decided = false;
};

std::vector<Group> GroupsOf(Span<const int32_t> groups,
                            const std::map<int64_t, int64_t>& held_back) {
  std::vector<Group> all;
  std::map<int64_t, int64_t> places;
  for (size_t i = 0; i < groups.size(); ++i) {
    const int64_t next = static_cast<int64_t>(all.size());
    const int64_t place = groups[i] < 0 ? next : places.emplace(groups[i], next).first->second;
    if (place == next) {
      const auto known = held_back.find(groups[i]);
      const bool decided = known != held_back.end();
      all.push_back({{}, decided && known->second != 0, decided});
    }
    all[static_cast<size_t>(place)].members.push_back(static_cast<int32_t>(i));
  }
  return all;
}

// How many examples each class has, and how many of them are held back.
class GroupSplitter {
 public:
  GroupSplitter(Span<const int32_t> labels, const SplitOptions& options)
      : labels_(labels),
        fraction_(static_cast<double>(options.validation_fraction)),
        n_(static_cast<size_t>(options.n_classes), 0.0),
        n_held_back_(n_.size(), 0.0) {
    for (int32_t label : labels) ++n_[static_cast<size_t>(label)];
  }

  double n_held_back(int32_t label) const { return n_held_back_[static_cast<size_t>(label)]; }
  void HoldBack(Group* group) {
    group->held_back = true;
    for (int32_t i : group->members) ++n_held_back_[Label(i)];
  }
  // Each class keeps an example to train on without the group.
  bool MayGo(const Group& group) const {
    const std::vector<double> without = Without(group);
    for (int32_t i : group.members) {
      if (without[Label(i)] >= n_[Label(i)]) return false;
    }
    return true;
  }
  // Σ over classes of (held back − wanted)² / n falls.
  bool Improves(const Group& group) const {
    const std::vector<double> without = Without(group);
    double gain = 0.0;
    for (size_t c = 0; c < n_.size(); ++c) {
      if (n_[c] == 0.0) continue;
      const double before = n_held_back_[c] - fraction_ * n_[c];
      const double after = without[c] - fraction_ * n_[c];
      gain += (before * before - after * after) / n_[c];
    }
    return gain > 0.0;
  }

 private:
  size_t Label(int32_t i) const { return static_cast<size_t>(labels_[static_cast<size_t>(i)]); }
  std::vector<double> Without(const Group& group) const {
    std::vector<double> held_back = n_held_back_;
    for (int32_t i : group.members) ++held_back[Label(i)];
    return held_back;
  }

  const Span<const int32_t> labels_;
  const double fraction_;
  std::vector<double> n_, n_held_back_;
};

// The smallest group with an example of the class that may go; null: none.
Group* SmallestOf(int32_t label, Span<const int32_t> labels, const GroupSplitter& splitter,
                  std::vector<Group>* groups) {
  Group* smallest = nullptr;
  for (Group& group : *groups) {
    const auto is_of_class = [&](int32_t i) { return labels[static_cast<size_t>(i)] == label; };
    if (group.decided || group.held_back ||
        (smallest != nullptr && smallest->members.size() <= group.members.size()) ||
        std::none_of(group.members.begin(), group.members.end(), is_of_class) ||
        !splitter.MayGo(group)) {
      continue;
    }
    smallest = &group;
  }
  return smallest;
}

}  // namespace

Split GroupSplit(Span<const int32_t> labels, Span<const int32_t> groups,
                 const std::map<int64_t, int64_t>& held_back, const SplitOptions& options) {
  std::vector<Group> all = GroupsOf(groups, held_back);
  GroupSplitter splitter(labels, options);
  Random random(options.seed);
  std::vector<int32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(&order);
  for (Group& group : all) {
    if (group.decided && group.held_back) splitter.HoldBack(&group);
  }
  const bool splits = options.validation_fraction > 0.0f;
  for (int32_t g : order) {
    Group& group = all[static_cast<size_t>(g)];
    if (!splits || group.decided || !splitter.MayGo(group) || !splitter.Improves(group)) continue;
    splitter.HoldBack(&group);
  }
  for (int32_t c = 0; splits && c < options.n_classes; ++c) {
    Group* smallest =
        splitter.n_held_back(c) > 0.0 ? nullptr : SmallestOf(c, labels, splitter, &all);
    if (smallest != nullptr) splitter.HoldBack(smallest);
  }
  Split split;
  for (const Group& group : all) {
    std::vector<int32_t>& side = group.held_back ? split.validation : split.train;
    side.insert(side.end(), group.members.begin(), group.members.end());
  }
  if (split.validation.empty() && held_back.empty()) return StratifiedSplit(labels, options);
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace topwork
