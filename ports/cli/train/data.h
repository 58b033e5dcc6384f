// A data set as the examples that the library's trainer reads.
#ifndef TOPWORK_PORTS_CLI_TRAIN_DATA_H_
#define TOPWORK_PORTS_CLI_TRAIN_DATA_H_

#include <cstdint>
#include <exception>
#include <string>
#include <topwork/topwork.hpp>
#include <vector>

#include "ports/cli/data/dataset.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {

// Feeds `data` to tw_trainer_add_examples and its like (where the data has no labels, class 0 and
// targets of 0 stand for them); one call at a time. Not copied: the
// structure that get() returns points into it.
class Feeder {
 public:
  // `what` and `enabled` are the progress line's. `class_of`: number that the trainer has for each
  // class of the data; empty: the data's own.
  Feeder(const Dataset& data, const std::string& what, bool enabled,
         std::vector<int64_t> class_of = {});
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  const tw_examples& get() const { return examples_; }
  // Gives each example its name as its id.
  void GiveIds();
  // Throws what went wrong: with the data (an unreadable image ends it with its own message), else
  // with the library. Ends the progress line.
  void Finish(const tw::Status& status);

 private:
  tw_status Read(int64_t i, void* input) noexcept;
  tw_status Target(int64_t i, int64_t* label, float* values, size_t n_values) noexcept;
  tw_status Key(int64_t i, char* key, size_t key_bytes) noexcept;

  const Dataset& data_;
  std::vector<int64_t> class_of_;
  Progress progress_;
  std::exception_ptr failure_;
  std::vector<std::string> names_;
  std::vector<const char*> ids_;
  tw_examples examples_{};
};

// Throws CliError for a class without examples, or for one class only.
void CheckClasses(const Dataset& data, const std::string& folder);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_DATA_H_
