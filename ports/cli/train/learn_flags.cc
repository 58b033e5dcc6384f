// The flags of `topwork learn`: their text and their check.
#include "ports/cli/train/learn_flags.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "ports/cli/files.h"
#include "ports/cli/train/combinations.h"

namespace topwork {
namespace cli {

bool LearnFlags::changes() const {
  return !merge.empty() || !rename_classes.empty() || !remove_classes.empty() ||
         !remove_groups.empty() || !remove.empty() || !subtract.empty() || !relabel.empty() ||
         !add.empty() || !penalty.empty() || drop_features;
}

void AddLearnFlags(CLI::App* command, LearnFlags* flags) {
  command
      ->add_option("--memory", flags->train.memory,
                   "the file that keeps the features of all examples, but no images; it is made "
                   "where there is none")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--add", flags->add,
                   "learn examples, as `train --data` takes them; new classes join the others")
      ->type_name("DIR");
  command->add_option("--remove", flags->remove, "forget examples, by the names that --list shows")
      ->type_name("ID");
  command->add_option("--remove-class", flags->remove_classes, "forget a class and its examples")
      ->type_name("NAME");
  command
      ->add_option("--remove-group", flags->remove_groups,
                   "forget all examples of a group, say a person")
      ->type_name("NAME");
  command->add_option("--relabel", flags->relabel, "give an example another class")
      ->type_name("ID=CLASS");
  command->add_option("--rename-class", flags->rename_classes, "rename a class")
      ->type_name("OLD=NEW");
  command->add_option("--merge", flags->merge, "take in the examples of another memory")
      ->type_name("FILE");
  command->add_flag(
      "--drop-features", flags->drop_features,
      "keep sums in place of every example's features: nothing can be removed by name "
      "then");
  command
      ->add_option("--subtract", flags->subtract,
                   "forget examples whose features were dropped, by giving them again")
      ->type_name("DIR");
  command
      ->add_option("--penalty", flags->penalty,
                   "ridge penalty; auto: chosen anew by leave-one-out; default: chosen at first, "
                   "and when the examples have doubled or halved")
      ->type_name("X|auto");
  command->add_option("--output", flags->output, "write the model with the new last layer")
      ->type_name("FILE");
  AddRejectOption(command, &flags->train.reject);
  command->add_flag("--list", flags->list, "list the examples");
  command
      ->add_option("--output-name", flags->train.output_name,
                   "the model's output whose head is taught; default: the first")
      ->type_name("NAME");
  command->add_flag("--append-head", flags->train.trainer.head.append,
                    "the output holds features: a new layer is put behind it");
  command->add_flag("--float-head", flags->train.trainer.head.keep_in_float,
                    "the new head of a quantized model computes in float32");
  command
      ->add_option("--cache", flags->train.cache,
                   "keep features in this file, so that the next run need not compute them")
      ->type_name("FILE");
}

void CheckLearnFlags(const LearnFlags& flags) {
  const std::string& memory = flags.train.memory;
  std::vector<FlagFile> outputs = {{"--output", flags.output}, {"--cache", flags.train.cache}};
  std::vector<FlagFile> inputs = {FileBefore("--memory", memory)};
  for (const std::string& other : flags.merge) {
    if (!IsSameFile(other, memory)) inputs.push_back({"--merge", other});
  }
  (flags.changes() ? outputs : inputs).push_back({"--memory", memory});
  CheckOutputs(outputs, flags.train.common.model, {flags.add, flags.subtract}, inputs);
  const bool creates = !flags.add.empty() || !flags.merge.empty();
  if (!creates && !std::filesystem::exists(memory)) {
    throw CliError(kExitIo, memory + ": No such file or directory; --add DIR makes one");
  }
  for (const std::string& other : flags.merge) {
    if (!IsSameFile(other, memory)) continue;
    throw CliError(kExitUsage, "--merge " + other + ": is the file of --memory");
  }
  (void)PenaltyOf(flags);
}

double PenaltyOf(const LearnFlags& flags) {
  if (flags.penalty.empty()) return 0.0;
  if (flags.penalty == "auto") return -1.0;
  char* end = nullptr;
  const double penalty = std::strtod(flags.penalty.c_str(), &end);
  if (*end != '\0' || !(penalty > 0.0) || !std::isfinite(penalty)) {
    throw CliError(kExitUsage,
                   "--penalty " + flags.penalty + ": is neither auto nor a number above 0");
  }
  return penalty;
}

}  // namespace cli
}  // namespace topwork
