// Changes of classes, which go to the library in one step.
#include "ports/cli/train/classes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace topwork {
namespace cli {

std::pair<std::string, std::string> SplitChange(const char* flag, const char* form,
                                                const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw CliError(kExitUsage, std::string(flag) + " " + text + ": is not " + form);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

ClassChange::ClassChange(std::vector<std::string> names)
    : names_(std::move(names)), becomes_(names_.size()) {
  std::iota(becomes_.begin(), becomes_.end(), int64_t{0});
}

int64_t ClassChange::Find(const char* flag, const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    throw CliError(kExitData, std::string(flag) + " " + name + ": there is no such class");
  }
  return found - names_.begin();
}

void ClassChange::Rename(const std::string& change) {
  const auto [before, after] = SplitChange("--rename-class", "OLD=NEW", change);
  const size_t renamed = static_cast<size_t>(Find("--rename-class", before));
  const auto known = std::find(names_.begin(), names_.end(), after);
  if (known != names_.end() && after != before) {
    throw CliError(kExitData, "--rename-class " + change + ": there is a class " + after +
                                  " already; `topwork train --merge-class " + change +
                                  "` makes one class of the two");
  }
  names_[renamed] = after;
  changed_ = true;
}

void ClassChange::Merge(const std::string& change) {
  const auto [from, into] = SplitChange("--merge-class", "CLASS=INTO", change);
  const int64_t source = Find("--merge-class", from);
  const int64_t target = Find("--merge-class", into);
  if (source == target) {
    throw CliError(kExitData, "--merge-class " + change + ": is one class");
  }
  Drop(source, target);
}

void ClassChange::Remove(const std::string& name) { Drop(Find("--remove-class", name), -1); }

int64_t ClassChange::Add(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return found - names_.begin();
  names_.push_back(name);
  changed_ = true;
  return static_cast<int64_t>(names_.size() - 1);
}

// Class `index` goes; what it was becomes `into`, -1: nothing.
void ClassChange::Drop(int64_t index, int64_t into) {
  for (int64_t& to : becomes_) {
    if (to == index) to = into;
    if (to > index) --to;
  }
  names_.erase(names_.begin() + index);
  changed_ = true;
}

std::vector<std::string> ClassNames(const tw::Trainer& trainer) {
  std::vector<std::string> names = trainer.class_names();
  const size_t n = static_cast<size_t>(CheckValue(trainer.Info()).n_classes);
  for (size_t c = names.size(); c < n; ++c) names.push_back(std::to_string(c));
  return names;
}

std::vector<int64_t> ChangeClasses(const TrainOptions& options, const Dataset* data,
                                   tw::Trainer* trainer) {
  ClassChange change(ClassNames(*trainer));
  for (const std::string& merge : options.merge_classes) change.Merge(merge);
  for (const std::string& rename : options.rename_classes) change.Rename(rename);
  for (const std::string& name : options.remove_classes) change.Remove(name);
  std::vector<int64_t> class_of;
  for (size_t c = 0; data != nullptr && c < data->class_names().size(); ++c) {
    class_of.push_back(change.Add(data->class_names()[c]));
  }
  if (change.changed()) {
    Check(trainer->SetClasses(change.names(), change.becomes()), "changing the classes");
  }
  return class_of;
}

}  // namespace cli
}  // namespace topwork
