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
#include "ports/cli/stop.h"
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
  float learning_rate = 0.0f;  // chosen from the features
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
  Feeder feeder{data,
                Progress("features", data.has_images() ? "images" : "examples",
                         ShowProgress(options.common.json)),
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

void PrintEpochTitles(bool has_validation) {
  std::printf("\n%s\n", Paint(1, "2",
                              std::string("   epoch    loss  accuracy") +
                                  (has_validation ? "   held back: loss  accuracy" : ""))
                            .c_str());
}

void PrintEpoch(const EpochRow& row, int64_t n_epochs) {
  std::printf("%4lld/%-4lld %6.4f   %5.1f %%", static_cast<long long>(row.epoch),
              static_cast<long long>(n_epochs), row.train_loss, 100.0 * row.train_accuracy);
  const double shown = row.has_validation ? row.validation_accuracy : row.train_accuracy;
  if (row.has_validation) {
    std::printf(
        "            %6.4f   %s", row.validation_loss,
        Paint(1, "1", (shown < 0.9995 ? (shown < 0.0995 ? "  " : " ") : "") + PercentText(shown))
            .c_str());
  }
  if (UseColour(1)) std::printf("  %s", Paint(1, "32", Bar(shown, 20)).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

[[noreturn]] void Stopped(const TrainOptions& options, int64_t n_epochs_done) {
  std::string message = "stopped by the user after epoch " + std::to_string(n_epochs_done);
  message += options.checkpoint.empty()
                 ? "; nothing was written (--checkpoint FILE would keep what was learnt)"
                 : "; run the same command with --resume to continue from " + options.checkpoint;
  throw CliError(kExitCancelled, message);
}

// Trains epoch by epoch, with a checkpoint after each. Returns the epochs done in this call.
std::vector<EpochRow> Fit(const TrainOptions& options, tw::Trainer* trainer) {
  std::vector<EpochRow> rows;
  const tw_trainer_info begin = CheckValue(trainer->Info());
  for (int64_t epoch = begin.n_epochs_done + 1; epoch <= options.epochs; ++epoch) {
    const auto keep = [&](const tw_trainer_progress& progress) {
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
    };
    const tw::Status status = trainer->Fit(static_cast<int32_t>(epoch), keep);
    const bool stopped = StopRequested();
    if (!stopped || status.code() != TW_STATUS_CANCELLED) Check(status);
    if (!options.common.json && !rows.empty() && rows.back().epoch == epoch) {
      if (rows.size() == 1) PrintEpochTitles(rows[0].has_validation);
      PrintEpoch(rows.back(), options.epochs);
    }
    if (!options.checkpoint.empty()) Check(trainer->Save(options.checkpoint));
    if (stopped) Stopped(options, CheckValue(trainer->Info()).n_epochs_done);
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

void FillSettings(const TrainOptions& options, const tw_trainer_info& info, const Dataset& data,
                  TrainingReport* report) {
  char rate[32];
  std::snprintf(rate, sizeof(rate), options.learning_rate > 0.0f ? "%g" : "chosen",
                static_cast<double>(options.learning_rate));
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
  if (options.resume && options.checkpoint.empty()) {
    throw CliError(kExitUsage, "--resume needs --checkpoint FILE");
  }
  std::error_code error;
  if (std::filesystem::equivalent(options.output, options.common.model, error)) {
    throw CliError(kExitUsage,
                   "--output " + options.output + ": is the model itself; give another name");
  }
  CheckWritable(options.output);
  if (!options.report.empty()) CheckWritable(options.report);
  if (!options.checkpoint.empty()) CheckWritable(options.checkpoint);
}

// The input's shape decides how the data is read.
Dataset OpenData(const TrainOptions& options, const tw::Model& model) {
  tw::TrainerOptions probe_options;
  probe_options.n_threads = options.common.n_threads;
  probe_options.device = DeviceOf(options.common.device);
  const tw::Trainer probe =
      CheckValue(tw::Trainer::Create(model, probe_options), options.common.model);
  if (CheckValue(probe.Info()).n_inputs != 1) {
    throw CliError(kExitUnsupported,
                   options.common.model + ": has several inputs; train needs a model of one");
  }
  const tw::Tensor input = CheckValue(probe.Input(0));
  Dataset data = Dataset::Open(options.data, input, ScaleFor(options.common, model, input));
  CheckData(options, data);
  return data;
}

void PrintStart(const TrainOptions& options, const tw::Trainer& trainer, const Dataset& data) {
  const tw_trainer_info info = CheckValue(trainer.Info());
  const Json head = Json::parse(CheckValue(trainer.Describe()));
  std::printf("%s  %lld %s in %zu classes from %s\n", Paint(1, "2", "data").c_str(),
              static_cast<long long>(data.size()), data.has_images() ? "images" : "examples",
              data.class_names().size(), options.data.c_str());
  std::printf("%s  %s of %s: %lld features to %lld classes\n", Paint(1, "2", "head").c_str(),
              head.value("op", std::string("last layer")).c_str(), options.common.model.c_str(),
              static_cast<long long>(info.n_features), static_cast<long long>(info.n_classes));
  std::fflush(stdout);
}

void PrintEnd(const TrainOptions& options, const TrainingReport& report, double seconds) {
  if (report.has_evaluation) {
    std::printf("\n%s ", Paint(1, "1", "held back:").c_str());
    PrintEvaluation(report.evaluation);
  }
  std::printf("\n%s in %s (", Paint(1, "1;32", "done").c_str(), HumanSeconds(seconds).c_str());
  for (size_t i = 0; i + 1 < report.timings.size(); ++i) {
    std::printf("%s%s %s", i > 0 ? ", " : "", report.timings[i].first.c_str(),
                HumanSeconds(report.timings[i].second).c_str());
  }
  std::printf(")\n  model   %s\n", Paint(1, "1", options.output).c_str());
  if (!options.report.empty()) std::printf("  report  %s\n", options.report.c_str());
  if (!options.checkpoint.empty()) std::printf("  resume  %s\n", options.checkpoint.c_str());
}

void Train(const TrainOptions& options) {
  CheckOptions(options);
  const int64_t start = port::NowNanos();
  const tw::Model model = OpenModel(options.common.model);
  const Dataset data = OpenData(options, model);
  std::vector<const char*> names;
  for (const std::string& name : data.class_names()) names.push_back(name.c_str());
  tw::Trainer trainer =
      CheckValue(tw::Trainer::Create(model, MakeOptions(options, names)), options.common.model);
  const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
  if (!options.common.json) PrintStart(options, trainer, data);
  TrainingReport report;
  const int64_t opened = port::NowNanos();
  AddExamples(options, data, &trainer);
  report.timings = {{"open", static_cast<double>(opened - start) * 1e-9},
                    {"features", SecondsSince(opened)}};
  if (options.resume) Check(trainer.Restore(options.checkpoint));
  const int64_t trained = port::NowNanos();
  report.epochs = Fit(options, &trainer);
  report.timings.push_back({"training", SecondsSince(trained)});
  report.has_evaluation = EvaluateHeldBack(data, &trainer, &report.evaluation);
  const int64_t exported = port::NowNanos();
  Check(trainer.ExportFile(options.output));
  report.timings.push_back({"export", SecondsSince(exported)});
  report.timings.push_back({"total", SecondsSince(start)});
  report.model = options.common.model;
  report.data = options.data;
  report.output = options.output;
  FillSettings(options, CheckValue(trainer.Info()), data, &report);
  report.evaluated_on = std::to_string(report.evaluation.n_examples) + " examples held back";
  if (!options.report.empty()) {
    const std::string html = RenderReport(report);
    WriteWholeFile(options.report, html.data(), html.size());
  }
  if (options.common.json) {
    PrintJson(ReportJson(report));
  } else {
    PrintEnd(options, report, SecondsSince(start));
  }
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
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--batch", options->batch, "examples in a step")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--lr", options->learning_rate,
                   "learning rate; default: chosen from the size of the features")
      ->check(CLI::PositiveNumber)
      ->type_name("RATE");
  command->add_option("--optimizer", options->optimizer, "sgd, momentum or adam")
      ->check(CLI::IsMember({"sgd", "momentum", "adam"}))
      ->capture_default_str();
  command->add_option("--momentum", options->momentum, "of --optimizer momentum")
      ->check(CLI::Range(0.0f, 0.9999f))
      ->type_name("M")
      ->capture_default_str();
  command->add_option("--weight-decay", options->weight_decay, "L2 penalty on the weights")
      ->check(CLI::NonNegativeNumber)
      ->type_name("W")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of splitting and shuffling")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--validation", options->validation, "fraction of each class held back")
      ->check(CLI::Range(0.0f, 0.9f))
      ->type_name("FRACTION")
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
      "The network before its last layer stays as it is: it runs once for each example. Ctrl-C "
      "stops\n"
      "at the next step and keeps the checkpoint.\n\n"
      "Examples:\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --report mine.html\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --checkpoint "
      "mine.ckpt\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --checkpoint mine.ckpt "
      "--resume\n"
      "  topwork train digits.tflite --data arrays/ --output mine.tflite --optimizer momentum --lr "
      "0.1");
  command->callback([options] { Train(*options); });
}

}  // namespace cli
}  // namespace topwork
