// topwork evaluate: how well a model does on labelled data.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "ports/cli/data/dataset.h"
#include "ports/cli/data/match.h"
#include "ports/cli/evaluate.h"
#include "ports/cli/files.h"
#include "ports/cli/judge.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kWorstOnPage = 24;
// Decoded pictures and sounds that are kept for a monitor.
constexpr size_t kMostDecodedBytes = size_t{256} << 20;

// softmax, sigmoid, mse or huber: what was asked for, else what the data holds.
std::string KindFor(const EvaluateOptions& options, const Dataset& data) {
  std::string kind = options.loss;
  if (kind.empty()) {
    kind = !data.has_targets() ? "softmax" : data.targets_are_binary() ? "sigmoid" : "mse";
  }
  const std::string where = options.data + ": ";
  if (kind == "softmax" && data.has_targets()) {
    throw CliError(kExitData,
                   where + "has numbers for each example; --loss softmax needs one class");
  }
  if (kind == "sigmoid" && data.has_targets() && !data.targets_are_binary()) {
    throw CliError(kExitData,
                   where + "has numbers other than 0 and 1; --loss sigmoid takes only them");
  }
  if ((kind == "mse" || kind == "huber") && !data.has_targets()) {
    throw CliError(kExitData, where + "has one class for each example; --loss " + kind +
                                  " needs numbers, in labels.csv or as floats in y.npy");
  }
  return kind;
}

JudgeOptions MakeJudgeOptions(const EvaluateOptions& options, const Dataset& data,
                              const std::vector<std::string>& labels, const Evaluator& evaluator,
                              std::string* note) {
  JudgeOptions judge;
  judge.loss = LossOf(KindFor(options, data));
  judge.k = options.top;
  judge.n_worst = options.report.empty() ? options.worst : std::max(options.worst, kWorstOnPage);
  judge.huber_delta = options.huber_delta;
  judge.labels = labels;
  DescribeOutput(evaluator.output(), &judge);
  if (judge.loss != TW_LOSS_SOFTMAX) {
    judge.match = MatchColumns(data, labels, evaluator.n_outputs());
    return judge;
  }
  const std::vector<std::string>& names = data.class_names();
  const bool single_output = evaluator.n_outputs() == 1 && names.size() == 2;
  if (evaluator.n_outputs() == 1 && !single_output) {
    throw CliError(kExitData, options.common.model +
                                  ": gives one number for each example, which "
                                  "tells two classes apart; the data has " +
                                  std::to_string(names.size()) +
                                  " (numbers for targets go into labels.csv or a float y.npy)");
  }
  judge.match = MatchClasses(data, labels, single_output ? 2 : evaluator.n_outputs(), note);
  if (single_output) {
    const size_t second = judge.match[0] == 1 ? 0 : 1;
    *note = "the model has one output; it is taken for the score of '" + names[second] + "'";
  }
  return judge;
}

void Evaluate(const EvaluateOptions& options) {
  if (!options.fold.empty() && options.monitor.empty()) {
    throw CliError(kExitUsage, "--fold-frequencies needs --monitor, which estimates them");
  }
  if (options.huber_delta != EvaluateOptions().huber_delta && options.loss != "huber") {
    throw CliError(kExitUsage, "--huber-delta needs --loss huber");
  }
  CheckOutputs({{"--fold-frequencies", options.fold}, {"--report", options.report}},
               options.common.model, {options.data, options.unknown},
               {{"--labels", options.labels},
                {"--monitor", options.monitor},
                {"--device-policy", options.common.device_policy}});
  std::optional<tw::Monitor> watch;
  if (!options.monitor.empty()) watch.emplace(OpenMonitor(options.monitor));
  const int64_t start = port::NowNanos();
  EvaluationExtras extras;
  extras.wants_data = watch.has_value();
  const tw::Model model = OpenModel(options.common.model);
  const Evaluation evaluation = EvaluateModel(options, model, &extras);
  Json monitor;
  if (watch) monitor = MonitorData(options, model, *std::move(extras.data), &*watch);
  if (!options.report.empty()) {
    WriteEvaluationPage(options, evaluation, extras, port::SecondsSince(start));
  }
  extras.worst.resize(std::min(extras.worst.size(), static_cast<size_t>(options.worst)));
  if (options.common.json) {
    Json json = EvaluationJson(evaluation);
    if (!monitor.is_null()) json["monitor"] = monitor;
    if (options.worst > 0) json["worst"] = WorstJson(extras.worst);
    if (extras.has_rejection) json["rejection"] = RejectionJson(extras.rejection);
    if (!extras.note.empty()) json["note"] = extras.note;
    PrintJson(json);
    return;
  }
  PrintNote(extras.note);
  PrintEvaluation(evaluation);
  if (extras.has_rejection) PrintRejection(extras.rejection);
  PrintWorst(extras.worst);
  if (!options.report.empty()) std::printf("\n  report  %s\n", options.report.c_str());
  if (!monitor.is_null()) PrintMonitor(monitor);
}

const char kEvaluateFooter[] =
    "Data with one class an example is judged by accuracy, cross-entropy and calibration; data "
    "whose\n"
    "numbers are all 0 or 1 (several classes an example) by the decisions at probability 0.5 and "
    "by\n"
    "average precision; other numbers (regression) by MAE, RMSE and R².\n\n"
    "Classes and columns are matched to the model's labels by name; where the model has no labels\n"
    "and as many outputs, in sorted order. Examples of classes that the model does not have count "
    "as\n"
    "wrong. Outputs are taken for probabilities when all lie in [0, 1] (and, for one class an\n"
    "example, sum to 1), else for logits.\n\n"
    "Examples:\n"
    "  topwork evaluate mine.tflite --data photos-kept-back/ --worst 10\n"
    "  topwork evaluate mine.tflite --data photos-kept-back/ --unknown others/ --report mine.html\n"
    "  topwork evaluate mine.tflite --data arrays/ --json | jq .top1";

// Examples of classes that the model does not have are unknown to it, and so are those of --unknown.
// The evaluator has run over `data`.
void JudgeRefusals(const EvaluateOptions& options, const JudgeOptions& judge, const Dataset& data,
                   const Dataset* others, Evaluator* evaluator, EvaluationExtras* extras) {
  extras->has_rejection = !evaluator->rejections().empty();
  if (!extras->has_rejection) {
    if (options.unknown.empty()) return;
    throw CliError(kExitUnsupported, options.common.model +
                                         ": refuses nothing, so --unknown has no use; "
                                         "topwork train --reject makes models that do");
  }
  std::vector<tw_rejection> known, unknown;
  for (int64_t i = 0; i < data.size(); ++i) {
    const bool has_class =
        data.has_targets() ||
        judge.match[static_cast<size_t>(data.labels()[static_cast<size_t>(i)])] >= 0;
    (has_class ? known : unknown).push_back(evaluator->rejections()[static_cast<size_t>(i)]);
  }
  if (others != nullptr) {
    evaluator->Run(*others, [](int64_t, const std::vector<double>&) {});
    unknown.insert(unknown.end(), evaluator->rejections().begin(), evaluator->rejections().end());
  }
  extras->rejection = JudgeRejection(known, unknown);
}

}  // namespace

Evaluation EvaluateModel(const EvaluateOptions& options, const tw::Model& model,
                         EvaluationExtras* extras) {
  const std::vector<std::string> labels = LabelsFor(model, options.labels);
  Evaluator evaluator(options.common, options.output_name, model);
  const int64_t n_names = evaluator.n_outputs() == 1 && labels.size() == 2 ? 2  // of one output
                                                                           : evaluator.n_outputs();
  if (!options.labels.empty() && static_cast<int64_t>(labels.size()) != n_names) {
    throw CliError(kExitData, options.labels + ": has " +
                                  CountText(static_cast<int64_t>(labels.size()), "name") +
                                  ", the model tells " + std::to_string(n_names) +
                                  " classes apart");
  }
  const tw::Tensor input = evaluator.input();
  Dataset data = Dataset::Open(options.data, input, ReadingFor(options.common, model, input));
  if (!options.examples.empty()) data.Keep(options.examples);
  if (extras->wants_data) data.KeepDecoded(kMostDecodedBytes);
  std::optional<Dataset> others;
  if (!options.unknown.empty()) {
    others.emplace(
        Dataset::OpenUnlabelled(options.unknown, input, ReadingFor(options.common, model, input)));
  }
  const JudgeOptions judge_options =
      MakeJudgeOptions(options, data, labels, evaluator, &extras->note);
  if (!data.note().empty()) {
    extras->note = data.note() + (extras->note.empty() ? "" : "; " + extras->note);
  }
  Judge judge(data, judge_options);
  evaluator.Run(data, [&](int64_t i, const std::vector<double>& numbers) {
    judge.Add(i, numbers);
    if (extras->take) extras->take(i, numbers);
  });
  JudgeRefusals(options, judge_options, data, others ? &*others : nullptr, &evaluator, extras);
  const Evaluation evaluation = judge.Finish(&extras->worst);
  if (extras->wants_data) extras->data.emplace(std::move(data));
  return evaluation;
}

void AddEvaluateCommand(CLI::App* app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app->add_subcommand("evaluate", "Measure a model on labelled data");
  AddModelOption(command, &options->common);
  command
      ->add_option("--data", options->data,
                   "one folder of images or sounds per class; or them and labels.csv (file,label, "
                   "or file,NAME1,... with numbers; of sounds file,start,end,class); or x.npy "
                   "and y.npy (class numbers, or numbers)")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--unknown", options->unknown,
                   "examples that the model should refuse: any images or sounds below the folder, "
                   "or x.npy")
      ->type_name("DIR");
  command
      ->add_option("--labels", options->labels,
                   "class names of the model, one a line; default: the model's own")
      ->type_name("FILE");
  command
      ->add_option("--output-name", options->output_name,
                   "the output to judge, where the model has several")
      ->type_name("NAME");
  command
      ->add_option("--loss", options->loss,
                   "softmax, sigmoid, mse or huber; default: what the data holds")
      ->check(CLI::IsMember({"softmax", "sigmoid", "mse", "huber"}));
  command->add_option("--huber-delta", options->huber_delta, "where huber turns linear")
      ->check(PositiveCheck())
      ->type_name("D")
      ->capture_default_str();
  command->add_option("--top", options->top, "K of top-K accuracy")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K")
      ->capture_default_str();
  command->add_option("--worst", options->worst, "list the N examples of the largest loss")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--report", options->report,
                   "write tables, plots and the worst examples as one HTML file")
      ->type_name("FILE.html");
  command
      ->add_option("--monitor", options->monitor,
                   "a file of train --monitor: tells whether the data is of a new kind, and how "
                   "frequent its classes are")
      ->type_name("FILE");
  command
      ->add_option(
          "--fold-frequencies", options->fold,
          "with --monitor: write the model with these frequencies in its last layer's bias")
      ->type_name("NEW.tflite");
  AddSessionOptions(command, &options->common);
  AddReadingOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(kEvaluateFooter);
  command->callback([options] { Evaluate(*options); });
}

}  // namespace cli
}  // namespace topwork
