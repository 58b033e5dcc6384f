// topwork train: re-trains a model's last layer on labelled data and writes the new model.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/dataset.h"
#include "ports/cli/files.h"
#include "ports/cli/metrics.h"
#include "ports/cli/report.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

struct TrainOptions {
  CommonOptions common;
  std::string data;
  std::string output;
  std::string checkpoint;
  std::string report;
  std::string optimizer = "adam";
  int epochs = 20;
  int batch = 32;
  float learning_rate = 0.001f;
  float momentum = 0.9f;
  float weight_decay = 0.0f;
  float validation = 0.2f;
  uint64_t seed = 1;
  bool resume = false;
};

double SecondsSince(int64_t start) { return static_cast<double>(port::NowNanos() - start) * 1e-9; }

tw::TrainerOptions MakeOptions(const TrainOptions& options, const std::vector<const char*>& names) {
  tw::TrainerOptions trainer;
  trainer.n_classes = static_cast<int64_t>(names.size());
  trainer.class_names = names.data();
  trainer.optimizer = options.optimizer == "adam" ? TW_OPTIMIZER_ADAM : TW_OPTIMIZER_SGD;
  trainer.momentum = options.optimizer == "momentum" ? options.momentum : 0.0f;
  trainer.learning_rate = options.learning_rate;
  trainer.weight_decay = options.weight_decay;
  trainer.batch_size = options.batch;
  trainer.n_epochs = options.epochs;
  trainer.seed = options.seed;
  trainer.validation_fraction = options.validation;
  trainer.n_threads = options.common.n_threads;
  trainer.device = DeviceOf(options.common.device);
  return trainer;
}

// What can be found wrong before any time is spent.
void CheckData(const TrainOptions& options, const Dataset& data) {
  const std::vector<int64_t> counts = data.ClassCounts();
  size_t n_present = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    n_present += counts[c] > 0;
    if (counts[c] == 0) {
      throw CliError(kExitData, options.data + ": class " + data.class_names()[c] +
                                    " has no examples; classes are numbered from 0 without gaps");
    }
  }
  if (n_present < 2) {
    throw CliError(kExitData, options.data + ": has only one class ('" + data.class_names()[0] +
                                  "'); a classifier needs two or more");
  }
}

// Feeds the data to the trainer; an unreadable image ends it with its own message.
struct Feeder {
  const Dataset& data;
  Progress progress;
  std::exception_ptr failure;

  tw_status Read(int64_t i, void* input, int64_t* out_label) noexcept {
    try {
      if (StopRequested()) throw CliError(kExitCancelled, "stopped while computing features");
      const std::vector<uint8_t> bytes = data.Read(i);
      std::memcpy(input, bytes.data(), bytes.size());
      *out_label = data.labels()[static_cast<size_t>(i)];
      return TW_STATUS_OK;
    } catch (...) {
      failure = std::current_exception();
      return TW_STATUS_CANCELLED;
    }
  }
};

void AddExamples(const TrainOptions& options, const Dataset& data, tw::Trainer* trainer) {
  Feeder feeder{
      data, Progress("features", data.has_images() ? "images" : "examples", !options.common.json),
      nullptr};
  tw_examples examples{};
  examples.struct_size = sizeof(examples);
  examples.n_examples = data.size();
  examples.user_data = &feeder;
  examples.read = [](void* user_data, int64_t i, void* const* inputs, size_t, int64_t* out_label) {
    return static_cast<Feeder*>(user_data)->Read(i, inputs[0], out_label);
  };
  examples.progress = [](void* user_data, int64_t n_done, int64_t n_total) {
    static_cast<Feeder*>(user_data)->progress.Update(n_done, n_total);
    return 0;
  };
  const tw::Status status = trainer->AddExamples(examples);
  if (feeder.failure) std::rethrow_exception(feeder.failure);
  Check(status, options.data);
  feeder.progress.Finish();
}

void PrintEpoch(const EpochRow& row, int64_t n_epochs) {
  char text[160];
  int n = std::snprintf(text, sizeof(text), "epoch %3lld/%lld  loss %.4f  accuracy %5.1f %%",
                        static_cast<long long>(row.epoch), static_cast<long long>(n_epochs),
                        row.train_loss, 100.0 * row.train_accuracy);
  if (row.has_validation) {
    std::snprintf(text + n, sizeof(text) - static_cast<size_t>(n),
                  "  | held back: loss %.4f  accuracy %s%.1f %%", row.validation_loss, "",
                  100.0 * row.validation_accuracy);
  }
  std::printf("%s\n", text);
  std::fflush(stdout);
}

// Trains epoch by epoch, with a checkpoint after each. Returns the epochs done in this call.
std::vector<EpochRow> Fit(const TrainOptions& options, tw::Trainer* trainer) {
  std::vector<EpochRow> rows;
  const tw_trainer_info begin = CheckValue(trainer->Info());
  for (int64_t epoch = begin.n_epochs_done + 1; epoch <= options.epochs; ++epoch) {
    Check(trainer->Fit(static_cast<int32_t>(epoch), [&](const tw_trainer_progress& progress) {
      EpochRow row;
      row.epoch = progress.epoch;
      row.train_loss = progress.train_loss;
      row.train_accuracy = progress.train_accuracy;
      row.has_validation = progress.has_validation != 0;
      row.validation_loss = progress.validation_loss;
      row.validation_accuracy = progress.validation_accuracy;
      row.seconds = progress.seconds;
      rows.push_back(row);
      return true;
    }));
    if (!rows.empty() && !options.common.json) PrintEpoch(rows.back(), options.epochs);
    if (!options.checkpoint.empty()) Check(trainer->Save(options.checkpoint));
    if (StopRequested()) {
      throw CliError(kExitCancelled,
                     "stopped after epoch " + std::to_string(epoch) +
                         (options.checkpoint.empty() ? "; nothing was written"
                                                     : "; continue with --checkpoint " +
                                                           options.checkpoint + " --resume"));
    }
  }
  return rows;
}

// The trainer's judgement on the examples held back, or on nothing.
bool EvaluateHeldBack(const Dataset& data, tw::Trainer* trainer, Evaluation* evaluation) {
  if (CheckValue(trainer->Info()).n_validation == 0) return false;
  const tw::Evaluation judged = CheckValue(trainer->Evaluate());
  evaluation->class_names = data.class_names();
  evaluation->n_examples = judged.n_examples;
  evaluation->loss = judged.loss;
  evaluation->top1 = judged.top1;
  evaluation->top5 = judged.top5;
  const size_t n = evaluation->n_classes();
  evaluation->confusion.assign(n * (n + 1), 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      evaluation->confusion[i * (n + 1) + j] = judged.matrix[i * n + j];
  }
  return true;
}

Json ReportJson(const TrainingReport& report) {
  Json json;
  json["model"] = report.model;
  json["data"] = report.data;
  json["output"] = report.output;
  for (const auto& setting : report.settings) json["settings"][setting.first] = setting.second;
  for (const auto& timing : report.timings) json["seconds"][timing.first] = timing.second;
  json["epochs"] = Json::array();
  for (const EpochRow& row : report.epochs) {
    Json epoch;
    epoch["epoch"] = row.epoch;
    epoch["train_loss"] = row.train_loss;
    epoch["train_accuracy"] = row.train_accuracy;
    if (row.has_validation) {
      epoch["validation_loss"] = row.validation_loss;
      epoch["validation_accuracy"] = row.validation_accuracy;
    }
    epoch["seconds"] = row.seconds;
    json["epochs"].push_back(epoch);
  }
  json["evaluation"] = report.has_evaluation ? EvaluationJson(report.evaluation) : Json();
  return json;
}

void FillSettings(const TrainOptions& options, const tw_trainer_info& info, const Dataset& data,
                  TrainingReport* report) {
  char rate[32];
  std::snprintf(rate, sizeof(rate), "%g", static_cast<double>(options.learning_rate));
  report->settings = {{"examples", std::to_string(data.size())},
                      {"classes", std::to_string(data.class_names().size())},
                      {"features", std::to_string(info.n_features)},
                      {"held back", std::to_string(info.n_validation)},
                      {"optimizer", options.optimizer},
                      {"learning rate", rate},
                      {"batch", std::to_string(options.batch)},
                      {"epochs", std::to_string(options.epochs)},
                      {"seed", std::to_string(options.seed)}};
}

void CheckOptions(const TrainOptions& options) {
  CheckWritable(options.output);
  if (!options.report.empty()) CheckWritable(options.report);
  if (!options.checkpoint.empty()) CheckWritable(options.checkpoint);
  if (options.resume && options.checkpoint.empty()) {
    throw CliError(kExitUsage, "--resume needs --checkpoint FILE");
  }
  std::error_code error;
  if (std::filesystem::equivalent(options.output, options.common.model, error)) {
    throw CliError(kExitUsage, "--output " + options.output + " is the model itself; it is kept");
  }
}

void Train(const TrainOptions& options) {
  CheckOptions(options);
  const int64_t start = port::NowNanos();
  const tw::Model model = OpenModel(options.common.model);
  // The input's shape decides how the data is read; its classes decide how the trainer is made.
  const tw::Trainer probe = CheckValue(tw::Trainer::Create(model), options.common.model);
  if (CheckValue(probe.Info()).n_inputs != 1) {
    throw CliError(kExitUnsupported,
                   options.common.model + ": has several inputs; train needs one");
  }
  const tw::Tensor input = CheckValue(probe.Input(0));
  const PixelScale scale = ScaleFor(options.common, model, input);
  const Dataset data = Dataset::Open(options.data, input, scale);
  CheckData(options, data);
  std::vector<const char*> names;
  for (const std::string& name : data.class_names()) names.push_back(name.c_str());
  tw::Trainer trainer =
      CheckValue(tw::Trainer::Create(model, MakeOptions(options, names)), options.common.model);
  if (!options.common.json) {
    std::printf("%lld %s of %zu classes from %s\n", static_cast<long long>(data.size()),
                data.has_images() ? "images" : "examples", data.class_names().size(),
                options.data.c_str());
    std::fflush(stdout);
  }
  TrainingReport report;
  const int64_t opened = port::NowNanos();
  AddExamples(options, data, &trainer);
  report.timings = {{"open", static_cast<double>(opened - start) * 1e-9},
                    {"features", SecondsSince(opened)}};
  if (options.resume) Check(trainer.Restore(options.checkpoint));
  const int64_t trained = port::NowNanos();
  report.epochs = Fit(options, &trainer);
  report.timings.push_back({"training", SecondsSince(trained)});
  const int64_t exported = port::NowNanos();
  Check(trainer.ExportFile(options.output));
  report.timings.push_back({"export", SecondsSince(exported)});
  report.timings.push_back({"total", SecondsSince(start)});
  report.model = options.common.model;
  report.data = options.data;
  report.output = options.output;
  FillSettings(options, CheckValue(trainer.Info()), data, &report);
  report.has_evaluation = EvaluateHeldBack(data, &trainer, &report.evaluation);
  report.evaluated_on = std::to_string(report.evaluation.n_examples) + " examples held back";
  if (!options.report.empty()) {
    const std::string html = RenderReport(report);
    WriteWholeFile(options.report, html.data(), html.size());
  }
  if (options.common.json) {
    PrintJson(ReportJson(report));
    return;
  }
  if (report.has_evaluation) {
    std::printf("\non the %s: ", report.evaluated_on.c_str());
    PrintEvaluation(report.evaluation);
  }
  std::printf("\n%s written in %s\n", Paint(1, "1", options.output).c_str(),
              HumanSeconds(SecondsSince(start)).c_str());
  if (!options.report.empty()) std::printf("report: %s\n", options.report.c_str());
}

}  // namespace

void AddTrainCommand(CLI::App* app) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command =
      app->add_subcommand("train", "Re-train a model's last layer on your own examples");
  AddModelOption(command, &options->common);
  command
      ->add_option("--data", options->data,
                   "one folder of images per class, or a folder with x.npy (N, the model's input "
                   "shape) and y.npy (int64)")
      ->required()
      ->type_name("DIR");
  command->add_option("--output", options->output, "the new model")
      ->required()
      ->type_name("NEW.tflite");
  command->add_option("--epochs", options->epochs, "passes over the examples")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "examples in a step")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--lr", options->learning_rate, "learning rate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--optimizer", options->optimizer, "sgd, momentum or adam")
      ->check(CLI::IsMember({"sgd", "momentum", "adam"}))
      ->capture_default_str();
  command->add_option("--momentum", options->momentum, "of --optimizer momentum")
      ->check(CLI::Range(0.0f, 0.9999f))
      ->capture_default_str();
  command->add_option("--weight-decay", options->weight_decay, "L2 penalty on the weights")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of splitting and shuffling")->capture_default_str();
  command->add_option("--validation", options->validation, "fraction of each class held back")
      ->check(CLI::Range(0.0f, 0.9f))
      ->capture_default_str();
  command->add_option("--checkpoint", options->checkpoint, "written after every epoch")
      ->type_name("FILE");
  command->add_flag("--resume", options->resume, "continue from --checkpoint");
  command->add_option("--report", options->report, "curves, tables and timings as one HTML file")
      ->type_name("FILE.html");
  AddDeviceOptions(command, &options->common);
  AddImageOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "Example:\n  topwork train mobilenet.tflite --data photos/ --output mine.tflite "
      "--report mine.html");
  command->callback([options] { Train(*options); });
}

}  // namespace cli
}  // namespace topwork
