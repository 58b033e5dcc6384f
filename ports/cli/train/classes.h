// The classes of a head from before, changed by the flags of `topwork train`.
#ifndef TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_
#define TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// Names of the trainer's classes, or their numbers.
std::vector<std::string> ClassNames(const tw::Trainer& trainer);

// Renames, removes, and adds those of the data (may be null) that the trainer does not have; what
// stays keeps its weights and examples. Returns the trainer's number for each class of the data.
// Throws CliError for a class that does not exist.
std::vector<int64_t> ChangeClasses(const TrainOptions& options, const Dataset* data,
                                   tw::Trainer* trainer);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_CLASSES_H_
