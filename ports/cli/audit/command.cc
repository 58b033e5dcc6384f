// topwork audit: which labels of a data set are probably wrong, and what its examples are worth.
#include <cstdio>
#include <memory>
#include <optional>

#include "ports/cli/audit/flags.h"
#include "ports/cli/audit/report.h"
#include "ports/cli/files.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/data.h"

namespace topwork {
namespace cli {
namespace {

struct AuditOptions {
  TrainOptions train;
  std::string fix;
  int64_t count = 20;
  int n_neighbours = 5;
};

void CheckAudit(const AuditOptions& options, const Dataset& data) {
  if (data.has_targets()) {
    throw CliError(kExitData,
                   options.train.data + ": gives each example numbers; audit needs one class each");
  }
  CheckClasses(data, options.train.data);
  if (!options.fix.empty() && !data.has_images() && !data.has_sounds()) {
    throw CliError(kExitData, options.train.data +
                                  ": holds arrays; --fix writes labels.csv, which lists images or "
                                  "sounds");
  }
}

NamedAudit RunAudit(const AuditOptions& options, const tw::Model& model, const Dataset& data,
                    const Reading& reading) {
  TrainerSettings settings(options.train, "softmax", data.class_names());
  if (data.has_images()) settings.RecordPixels(reading.pixels, false);
  tw::Trainer trainer =
      CheckValue(tw::Trainer::Create(model, settings.get()), options.train.common.model);
  const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
  Feeder feeder(data, "features", ShowProgress(options.train.common.json));
  feeder.Finish(trainer.AddExamples(feeder.get()));
  Check(trainer.Fit());
  NamedAudit audit;
  tw::AuditOptions asked;
  asked.n_neighbours = options.n_neighbours;
  static_cast<tw::Audit&>(audit) = CheckValue(trainer.AuditExamples(asked));
  audit.class_names = data.class_names();
  return audit;
}

void WriteText(const std::string& path, const std::string& text) {
  WriteWholeFile(path, text.data(), text.size());
}

void RunAuditCommand(const AuditOptions& options) {
  const CommonOptions& common = options.train.common;
  CheckOutputs({{"--report", options.train.report},
                {"--fix", options.fix},
                {"--cache", options.train.cache}},
               common.model, {options.train.data});
  const tw::Model model = OpenModel(common.model);
  if (CheckValue(model.Info()).n_inputs != 1) {
    throw CliError(kExitUnsupported,
                   common.model + ": has several inputs; audit needs a model of one");
  }
  const tw::Tensor input = CheckValue(model.Input(0));
  const Reading reading = ReadingFor(common, model, input);
  const Dataset data = Dataset::Open(options.train.data, input, reading);
  CheckAudit(options, data);
  if (!common.json) PrintNote(data.note());
  const NamedAudit audit = RunAudit(options, model, data, reading);
  const size_t count = static_cast<size_t>(options.count);
  if (!options.fix.empty()) WriteText(options.fix, CorrectedCsv(audit, data));
  if (!options.train.report.empty()) {
    WriteText(options.train.report,
              RenderLabelsPage(AuditPage(audit, data, common.model, options.train.data, count)));
  }
  if (common.json) {
    Json json = {{"model", common.model}, {"data", options.train.data}};
    json.update(AuditJson(audit, data, count));
    if (!options.fix.empty()) json["fixed"] = options.fix;
    PrintJson(json);
    return;
  }
  PrintAudit(audit, data, count);
  const std::pair<const char*, const std::string*> files[] = {{"report", &options.train.report},
                                                              {"labels", &options.fix}};
  for (const auto& file : files) {
    if (file.second->empty()) continue;
    std::printf("  %s  %s\n", file.first, Paint(1, "1", *file.second).c_str());
  }
}

const char kAuditFooter[] =
    "A head is fitted to the examples. Each label is then judged by the head without that example (and\n"
    "its group): the margin is the score of the label less the largest other one. From all scores\n"
    "follows how many labels are wrong (the estimate), and for each label how probable that is: the\n"
    "least probable come first, and one is called probably wrong where another class is right with\n"
    "more than one half. An example's value\n"
    "is what it adds to the right answers of its nearest neighbours (a Shapley value, times the number\n"
    "of examples).\n\n"
    "Put the corrected labels.csv into DIR: train, evaluate and audit then take the labels from it.\n\n"
    "Examples:\n"
    "  topwork audit mobilenet.tflite --data photos/ --report audit.html\n"
    "  topwork audit mobilenet.tflite --data photos/ --fix photos/labels.csv\n"
    "  topwork train mobilenet.tflite --data photos/ --output mine.tflite";

}  // namespace

void AddAuditCommand(CLI::App* app) {
  auto options = std::make_shared<AuditOptions>();
  TrainOptions* train = &options->train;
  CLI::App* command = app->add_subcommand("audit", "Find labels that are probably wrong");
  AddListFlags(command,
               "one folder of images or sounds per class; or them with labels.csv; or x.npy with "
               "y.npy",
               "examples of each kind that are listed", 10000, train, &options->count);
  command
      ->add_option("--report", train->report,
                   "write a page with pictures, on which labels are corrected and saved")
      ->type_name("FILE.html");
  command
      ->add_option("--fix", options->fix,
                   "write all labels, with those that are probably wrong replaced")
      ->type_name("LABELS.csv");
  command
      ->add_option("--neighbours", options->n_neighbours,
                   "nearest neighbours that an example's value counts")
      ->check(CLI::Range(1, 1000))
      ->type_name("K")
      ->capture_default_str();
  AddFeatureFlags(command, train);
  command->footer(kAuditFooter);
  command->callback([options] { RunAuditCommand(*options); });
}

}  // namespace cli
}  // namespace topwork
