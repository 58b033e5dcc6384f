// The flags of `topwork learn`.
#ifndef TOPWORK_PORTS_CLI_TRAIN_LEARN_FLAGS_H_
#define TOPWORK_PORTS_CLI_TRAIN_LEARN_FLAGS_H_

#include <string>
#include <vector>

#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

struct LearnFlags {
  TrainOptions train;  // the model, the last layer, the cache and the memory
  std::vector<std::string> merge;
  std::vector<std::string> rename_classes;  // OLD=NEW
  std::vector<std::string> remove_classes;
  std::vector<std::string> remove_groups;
  std::vector<std::string> remove;
  std::string subtract;
  std::vector<std::string> relabel;  // ID=CLASS
  std::string add;
  std::string output;
  std::string penalty;  // a number, "auto" or empty
  bool drop_features = false;
  bool list = false;

  // Anything that would change the memory.
  bool changes() const;
};

void AddLearnFlags(CLI::App* command, LearnFlags* flags);
// What is wrong with the flags alone, and files that cannot be written. Throws CliError.
void CheckLearnFlags(const LearnFlags& flags);
// The number of --penalty, −1 for auto, 0 where it is not given.
double PenaltyOf(const LearnFlags& flags);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_LEARN_FLAGS_H_
