// topwork prune: a model whose smallest weights are 0, and what that costs in accuracy.
#include <cstdio>
#include <memory>
#include <optional>

#include "ports/cli/compare.h"
#include "ports/cli/files.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

struct PruneFlags {
  CommonOptions common;
  std::string data, output, output_name, block = "1x1", scope = "layer";
  double sparsity = 0.5;
  int64_t min_elements = 1024;
  bool sparse = false;
};

// "4x1": four output channels by one input.
void ReadBlock(const std::string& text, tw_prune_options* options) {
  int rows = 0, columns = 0;
  char rest = '\0';
  if (std::sscanf(text.c_str(), "%4dx%4d%c", &rows, &columns, &rest) != 2 || rows < 1 ||
      columns < 1) {
    throw CliError(kExitUsage, "--block is '" + text +
                                   "'; it is two numbers, output channels by inputs, as in 1x4");
  }
  options->block_rows = rows;
  options->block_columns = columns;
}

void CheckFlags(const CLI::App& command, const PruneFlags& flags) {
  if (!flags.output_name.empty() && flags.data.empty()) {
    throw CliError(kExitUsage, "--output-name needs --data: it is the output to judge");
  }
  if (flags.data.empty()) RefuseFlagsOfExamples(command, "--data");
  CheckOutputs({{"--output", flags.output}}, flags.common.model, {flags.data});
}

void Prune(const PruneFlags& flags) {
  tw::PruneOptions options;
  options.sparsity = flags.sparsity;
  options.global = flags.scope == "global" ? 1 : 0;
  options.min_elements = flags.min_elements;
  options.sparse_storage = flags.sparse ? 1 : 0;
  ReadBlock(flags.block, &options);
  const tw::Model model = OpenModel(flags.common.model);
  tw_prune_report report{};
  const tw::Model pruned = CheckValue(tw::Prune(model, options, &report), flags.common.model);
  std::optional<ModelComparison> comparison;
  if (!flags.data.empty()) {
    ComparisonOptions compare;
    compare.common = flags.common;
    compare.after = flags.output;
    compare.data = flags.data;
    compare.output_name = flags.output_name;
    comparison = CompareModels(compare, model, pruned);
  }
  Check(pruned.Save(flags.output), flags.common.model);
  if (flags.common.json) {
    Json json;
    json["output"] = flags.output;
    AddSizesJson(flags.common.model, flags.output, &json);
    json["n_layers"] = report.n_layers;
    json["n_sparse"] = report.n_sparse;
    json["n_weights"] = report.n_weights;
    json["n_zeros"] = report.n_zeros;
    if (comparison) AddComparisonJson(*comparison, &json);
    PrintJson(json);
    return;
  }
  PrintSizes(flags.common.model, flags.output);
  std::printf(
      "%s  %s of %lld weights of %s are 0; %s stored sparse\n", Paint(1, "2", "pruned").c_str(),
      PercentText(static_cast<double>(report.n_zeros) / static_cast<double>(report.n_weights))
          .c_str(),
      static_cast<long long>(report.n_weights), CountText(report.n_layers, "layer").c_str(),
      (report.n_sparse == 1 ? "1 layer is" : std::to_string(report.n_sparse) + " layers are")
          .c_str());
  if (comparison) PrintComparison(*comparison);
}

}  // namespace

void AddPruneCommand(CLI::App* app) {
  auto flags = std::make_shared<PruneFlags>();
  CLI::App* command = app->add_subcommand("prune", "Set the smallest weights of a model to 0");
  AddModelOption(command, &flags->common);
  command->add_option("--sparsity", flags->sparsity, "share of the weights that become 0")
      ->required()
      ->check(CLI::Range(0.000001, 0.999999))
      ->type_name("S");
  command->add_option("--output", flags->output, "the new .tflite file")
      ->required()
      ->type_name("FILE");
  command->add_option("--data", flags->data, "examples as `evaluate` takes them, to judge by")
      ->type_name("DIR");
  command
      ->add_option("--output-name", flags->output_name,
                   "the output to judge, where the model has several")
      ->type_name("NAME");
  command
      ->add_option("--scope", flags->scope,
                   "layer: that share of each layer; global: of all layers together")
      ->check(CLI::IsMember({"layer", "global"}))
      ->capture_default_str();
  command
      ->add_option("--block", flags->block,
                   "clear weights in blocks of R output channels by C inputs")
      ->type_name("RxC")
      ->capture_default_str();
  command
      ->add_option("--min-elements", flags->min_elements,
                   "layers with fewer weights stay as they are")
      ->check(CLI::Range(int64_t{0}, int64_t{1000000000}))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--sparse", flags->sparse,
                    "store weights sparse, behind DENSIFY, where that is smaller");
  AddThreadsOption(command, &flags->common);
  AddReadingOptions(command, &flags->common);
  AddJsonOption(command, &flags->common);
  command->footer(
      "Weights of FULLY_CONNECTED and CONV_2D are cleared, the smallest blocks first. Accuracy\n"
      "returns when the last layers are trained again (`topwork train`). Size is won with\n"
      "--sparse or in an archive. Time is won by --block 16x1 on the CPU: float32 dense layers\n"
      "and 1x1 convolutions pass over such blocks; zeros that lie singly win none.\n\n"
      "Examples:\n"
      "  topwork prune digits.tflite --sparsity 0.8 --data kept/ --output small.tflite --sparse\n"
      "  topwork prune digits.tflite --sparsity 0.7 --block 16x1 --scope global --output "
      "small.tflite");
  command->callback([command, flags] {
    CheckFlags(*command, *flags);
    Prune(*flags);
  });
}

}  // namespace cli
}  // namespace topwork
