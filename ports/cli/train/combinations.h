// Which flags of `topwork train` go together, and what the library says of them, in the flags' words.
#ifndef TOPWORK_PORTS_CLI_TRAIN_COMBINATIONS_H_
#define TOPWORK_PORTS_CLI_TRAIN_COMBINATIONS_H_

#include <string>

#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// Flags that would do nothing, as another one is missing or has another value. Throws CliError.
void CheckCombinations(const TrainOptions& options);
// The same of flags that belong to losses, once the data has said which it is.
void CheckLossFlags(const TrainOptions& options, const std::string& loss);

// Throws unless ok. A sentence about a member of tw_trainer_options names its flag, and is wrong use.
void CheckTrainer(const tw::Status& status, const std::string& model);

// --reject, of `train` and `learn`.
void AddRejectOption(CLI::App* command, float* reject);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_COMBINATIONS_H_
