// topwork merge: heads of models with the same backbone as outputs of one model.
#include <cstdio>
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/files.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

struct MergeFlags {
  CommonOptions common;
  std::vector<std::string> others;
  std::string output;
};

void MergeFiles(const MergeFlags& flags) {
  std::vector<FlagFile> inputs;
  for (const std::string& path : flags.others) inputs.push_back({"OTHERS", path});
  CheckOutputs({{"--output", flags.output}}, flags.common.model, {}, inputs);
  std::vector<tw::Model> models;
  models.push_back(OpenModel(flags.common.model));
  for (const std::string& path : flags.others) models.push_back(OpenModel(path));
  std::vector<const tw::Model*> pointers;
  for (const tw::Model& model : models) pointers.push_back(&model);
  const tw::Model merged = CheckValue(tw::MergeHeads(pointers), flags.common.model);
  Check(merged.Save(flags.output), flags.output);
  if (flags.common.json) {
    Json json;
    json["output"] = flags.output;
    json["n_heads"] = models.size();
    PrintJson(json);
    return;
  }
  std::printf("%s  %s with %s\n", Paint(1, "2", "written").c_str(), flags.output.c_str(),
              CountText(static_cast<int64_t>(models.size()), "head").c_str());
}

}  // namespace

void AddMergeCommand(CLI::App* app) {
  auto flags = std::make_shared<MergeFlags>();
  CLI::App* command =
      app->add_subcommand("merge", "Make one model of several that share a backbone");
  AddModelOption(command, &flags->common);
  command->add_option("OTHERS", flags->others, "models whose heads become further outputs")
      ->required()
      ->type_name("FILE ...");
  command->add_option("--output", flags->output, "the new .tflite file")
      ->required()
      ->type_name("FILE");
  AddJsonOption(command, &flags->common);
  command->footer(
      "The backbone, which runs once for all heads, must be the same in every model: operators and\n"
      "constants are compared. Outputs: those of MODEL, then scores_2, scores_3, ...\n\n"
      "Example:\n"
      "  topwork merge animals.tflite weather.tflite --output both.tflite");
  command->callback([flags] { MergeFiles(*flags); });
}

}  // namespace cli
}  // namespace topwork
