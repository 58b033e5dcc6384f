// The classes of a head from before, changed by the flags of `topwork train` and `topwork learn`.
#ifndef TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_
#define TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// The two sides of LEFT=RIGHT, divided at the last '='. Throws CliError with the form ("OLD=NEW").
std::pair<std::string, std::string> SplitChange(const char* flag, const char* form,
                                                const std::string& text);

// New names of classes, and which of them each of the present ones becomes. Functions throw CliError
// for a class that does not exist.
class ClassChange {
 public:
  explicit ClassChange(std::vector<std::string> names);

  void Merge(const std::string& change);   // CLASS=INTO
  void Rename(const std::string& change);  // OLD=NEW
  void Remove(const std::string& name);
  // The number of the class, which is added where it is new.
  int64_t Add(const std::string& name);

  bool changed() const { return changed_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<int64_t>& becomes() const { return becomes_; }

 private:
  int64_t Find(const char* flag, const std::string& name) const;
  void Drop(int64_t index, int64_t into);

  std::vector<std::string> names_;
  std::vector<int64_t> becomes_;
  bool changed_ = false;
};

// Names of the trainer's classes, or their numbers.
std::vector<std::string> ClassNames(const tw::Trainer& trainer);

// Merges, renames, removes, and adds those of the data (may be null) that the trainer does not have; what
// stays keeps its weights and examples. Returns the trainer's number for each class of the data.
// Throws CliError for a class that does not exist.
std::vector<int64_t> ChangeClasses(const TrainOptions& options, const Dataset* data,
                                   tw::Trainer* trainer);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_
