// ChangeClasses: all changes go to the trainer in one step.
#include "ports/cli/train/classes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace topwork {
namespace cli {
namespace {

int64_t FindClass(const std::vector<std::string>& names, const std::string& name,
                  const char* flag) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw CliError(kExitData, std::string(flag) + " " + name + ": there is no such class");
  }
  return found - names.begin();
}

// The two sides of the first =.
std::pair<std::string, std::string> Pair(const std::string& text, const std::string& flag,
                                         const char* form) {
  const size_t at = text.find('=');
  if (at == std::string::npos) {
    throw CliError(kExitUsage, flag + " " + text + ": is not " + form);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

std::vector<std::string> ClassNames(const tw::Trainer& trainer) {
  std::vector<std::string> names = trainer.class_names();
  const size_t n = static_cast<size_t>(CheckValue(trainer.Info()).n_classes);
  for (size_t c = names.size(); c < n; ++c) names.push_back(std::to_string(c));
  return names;
}

std::vector<int64_t> ChangeClasses(const TrainOptions& options, const Dataset* data,
                                   tw::Trainer* trainer) {
  for (const std::string& change : options.merge_classes) {
    const std::vector<std::string> names = ClassNames(*trainer);
    const auto [from, into] = Pair(change, "--merge-class", "CLASS=INTO");
    Check(trainer->MergeClasses(FindClass(names, from, "--merge-class"),
                                FindClass(names, into, "--merge-class")),
          "merging classes");
  }
  const std::vector<std::string> old = ClassNames(*trainer);
  std::vector<std::string> names = old;
  for (const std::string& change : options.rename_classes) {
    const auto [before, after] = Pair(change, "--rename-class", "OLD=NEW");
    names[static_cast<size_t>(FindClass(names, before, "--rename-class"))] = after;
  }
  std::vector<int64_t> sources(names.size());
  std::iota(sources.begin(), sources.end(), int64_t{0});
  for (const std::string& name : options.remove_classes) {
    const int64_t index = FindClass(names, name, "--remove-class");
    names.erase(names.begin() + index);
    sources.erase(sources.begin() + index);
  }
  std::vector<int64_t> class_of;
  for (size_t c = 0; data != nullptr && c < data->class_names().size(); ++c) {
    const std::string& name = data->class_names()[c];
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      found = names.insert(found, name);
      sources.push_back(-1);
    }
    class_of.push_back(found - names.begin());
  }
  if (names != old) Check(trainer->SetClasses(names, sources), "changing the classes");
  return class_of;
}

}  // namespace cli
}  // namespace topwork
