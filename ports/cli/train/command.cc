// topwork train: re-trains a model's last layers on labelled data and writes the new model.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "ports/cli/common.h"
#include "ports/cli/files.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/classes.h"
#include "ports/cli/train/combinations.h"
#include "ports/cli/train/data.h"
#include "ports/cli/train/depth.h"
#include "ports/cli/train/options.h"
#include "ports/cli/train/report.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

// One training from the flags to the files.
class Training {
 public:
  explicit Training(const TrainOptions& options)
      : options_(options),
        start_(port::NowNanos()),
        model_(OpenModel(options.common.model)),
        n_epochs_(options.trainer.n_epochs) {}

  void Run() {
    OpenInput();
    OpenData();
    if (options_.layers == "auto") Timed("depths", [this] { TryDepths(); });
    MakeTrainer();
    const CancelOnStop cancel([this] { (void)trainer_->Cancel(); });
    if (!options_.head.empty()) Check(trainer_->Load(options_.head));
    if (keeps_classes() && (loss_ == "softmax" || loss_ == "sigmoid")) {
      class_of_ = ChangeClasses(options_, data_ ? &*data_ : nullptr, &*trainer_);
    }
    if (!options_.common.json) PrintStart();
    AddExamples();
    AddNegatives();
    if (options_.resume) Check(trainer_->Load(options_.checkpoint));
    Timed("training", [this] { Fit(); });
    Judge();
    Timed("export", [this] { Write(); });
    Finish();
  }

 private:
  template <typename Function>
  void Timed(const char* what, Function function) {
    const int64_t begin = port::NowNanos();
    function();
    report_.timings.push_back({what, port::SecondsSince(begin)});
  }

  bool has_memory() const { return std::filesystem::exists(options_.memory); }
  // Those of a head from before, in place of the data's.
  bool keeps_classes() const {
    return !options_.head.empty() || has_memory() || options_.init == "shipped";
  }

  // The input's shape decides how the data is read, and comes before the trainer.
  void OpenInput() {
    size_t n_inputs = CheckValue(model_.Info()).n_inputs;
    if (!options_.common.signature.empty()) {
      signature_.emplace(CheckValue(tw::Session::Create(model_, SessionOptionsOf(options_.common)),
                                    options_.common.model));
      n_inputs = CheckValue(signature_->Info()).n_inputs;
    }
    if (n_inputs != 1) {
      throw CliError(kExitUnsupported,
                     options_.common.model + ": has several inputs; train needs a model of one");
    }
    input_ = CheckValue(signature_ ? signature_->Input(0) : model_.Input(0));
    reading_ = ReadingFor(options_.common, model_, input_);
    records_pixels_ = input_.dtype == TW_DTYPE_FLOAT32;
  }

  void OpenData() {
    if (!options_.data.empty()) {
      data_.emplace(Dataset::Open(options_.data, input_, reading_));
      if (!keeps_classes()) CheckClasses(*data_, options_.data);
      loss_ = LossFor(options_, *data_);
    } else {
      loss_ = options_.loss.empty() ? "softmax" : options_.loss;
    }
    CheckLossFlags(options_, loss_);
    if (!options_.negatives.empty()) {
      negatives_.emplace(Dataset::OpenUnlabelled(options_.negatives, input_, reading_));
    }
    if (!options_.golden.empty()) {
      golden_.emplace(Dataset::Open(options_.golden, input_, reading_));
      if (golden_->has_targets() != (loss_ != "softmax")) {
        throw CliError(
            kExitData,
            options_.golden + ": its targets are of another kind than those of " + options_.data);
      }
    }
  }

  // The head is fitted anew to all examples, whatever a memory has seen.
  bool follows_examples() const {
    return options_.optimizer == "auto" || options_.optimizer == "knn";
  }

  // Classes of the data, or the model's own where they are kept.
  std::vector<std::string> FirstClasses() const {
    if (options_.init == "shipped") {
      if (signature_) return {};  // labels are those of the main subgraph
      const std::vector<std::string> labels = model_.labels();
      const tw::Result<tw_head_info> head = model_.Head();
      const bool fit = head.ok() && head->n_classes == static_cast<int64_t>(labels.size());
      return fit ? labels : std::vector<std::string>();
    }
    if (keeps_classes()) return {"0", "1"};  // until the file with the others is read
    return data_->class_names();
  }

  void MakeTrainer() {
    TrainOptions options = options_;
    // A memory's trainer is made twice: as many epochs as asked for come on top of those that the
    // memory has seen, which only its file says.
    for (;;) {
      CreateTrainer(options);
      HoldFiles();
      if (follows_examples()) n_epochs_ = 1;
      if (!has_memory()) break;
      Check(trainer_->Load(options_.memory));
      if (follows_examples()) break;
      n_epochs_ = CheckValue(trainer_->Info()).n_epochs_done + options_.trainer.n_epochs;
      if (options.trainer.n_epochs == static_cast<int32_t>(n_epochs_)) break;
      options.trainer.n_epochs = static_cast<int32_t>(n_epochs_);
    }
    const double depths = report_.timings.empty() ? 0.0 : report_.timings.front().second;
    report_.timings.push_back({"open", port::SecondsSince(start_) - depths});
  }

  void RecordPixels(TrainerSettings* settings) const {
    if (data_ && data_->has_images()) settings->RecordPixels(reading_.pixels, records_pixels_);
  }

  // Of all examples and their variants.
  double FeatureBytes() const {
    const tw::Result<tw_head_info> head = model_.Head();
    const double n =
        static_cast<double>(data_->size()) * (1.0 + options_.trainer.augmentation.n_variants);
    const double each = head.ok() ? static_cast<double>(head->n_features) : 0.0;
    return n * (each * sizeof(float) + 1024.0);
  }

  void TryDepths() {
    CheckCheckpoint(options_);
    const int64_t begin = port::NowNanos();
    const bool shares = options_.cache.empty();
    if (shares) options_.cache = features_file_.emplace(FeatureBytes()).path();
    DepthChoice choice = ChooseDepth(options_, model_, *data_, loss_,
                                     [this](TrainerSettings* settings) { RecordPixels(settings); });
    options_ = WithDepth(options_, choice.chosen);
    if (shares && choice.chosen.layers > 1) options_.cache.clear();
    // What is left, but never none: 0 is no limit.
    const double left = options_.max_seconds - port::SecondsSince(begin);
    if (options_.max_seconds > 0.0) options_.max_seconds = std::max(left, 1e-3);
    report_.depths = std::move(choice.rows);
    report_.depth_reason = std::move(choice.reason);
    if (!options_.common.json) PrintDepths(report_);
  }

  void CreateTrainer(const TrainOptions& options) {
    settings_ = std::make_unique<TrainerSettings>(options, loss_, FirstClasses());
    RecordPixels(settings_.get());
    trainer_.reset();  // its files first
    tw::Result<tw::Trainer> made = tw::Trainer::Create(model_, settings_->get());
    CheckTrainer(made.status(), options_.common.model);
    trainer_.emplace(std::move(made).value());
  }

  // What this run writes in the end, or reads and writes: nobody else meanwhile.
  void HoldFiles() {
    for (const std::string& path : {options_.memory, options_.checkpoint, options_.save_head}) {
      if (!path.empty()) Check(trainer_->HoldFile(path));
    }
    CheckCheckpoint(options_);  // held first: of another run's file, that run is told
  }

  void PrintStart() const {
    const tw_trainer_info info = CheckValue(trainer_->Info());
    const char* output = loss_ == "mse" || loss_ == "huber" ? "number" : "class";
    if (data_) {
      const int64_t n_outputs = static_cast<int64_t>(data_->class_names().size());
      std::printf("%s  %s in %s from %s\n", Paint(1, "2", "data").c_str(),
                  CountText(data_->size(), data_->has_images() ? "image" : "example").c_str(),
                  CountText(n_outputs, output).c_str(), options_.data.c_str());
    }
    std::printf("%s  %s of %s: %s to %s\n", Paint(1, "2", "head").c_str(), info.head->op,
                options_.common.model.c_str(), CountText(info.n_features, "feature").c_str(),
                CountText(info.n_classes, output).c_str());
    std::fflush(stdout);
  }

  void AddExamples() {
    const bool shown = ShowProgress(options_.common.json);
    if (golden_) {
      Feeder feeder(*golden_, "golden set", shown);
      feeder.Finish(trainer_->SetGolden(feeder.get()));
    }
    if (!data_) return;
    Timed("features", [&] {
      Feeder feeder(*data_, "features", shown, class_of_);
      // For the nearest taught examples that a refusing model tells, and for `learn` on the memory.
      feeder.GiveIds();
      feeder.Finish(trainer_->AddExamples(feeder.get()));
    });
  }

  void AddNegatives() {
    if (options_.negatives.empty()) return;
    Feeder feeder(*negatives_, "negatives", ShowProgress(options_.common.json));
    tw_examples negatives = feeder.get();
    negatives.are_negatives = 1;
    feeder.Finish(trainer_->AddExamples(negatives));
  }

  [[noreturn]] void Stopped() const {
    std::string message = "stopped by the user after epoch " +
                          std::to_string(CheckValue(trainer_->Info()).n_epochs_done);
    message += options_.checkpoint.empty()
                   ? "; nothing was written (--checkpoint FILE would keep what was learnt)"
                   : "; run the same command with --resume to continue from " + options_.checkpoint;
    throw CliError(kExitCancelled, message);
  }

  void Keep(const tw_trainer_progress& progress) {
    EpochRow row;
    row.epoch = progress.epoch;
    row.train_loss = progress.train_loss;
    row.has_accuracy = loss_ == "softmax" || loss_ == "sigmoid";
    row.train_accuracy = progress.train_accuracy;
    row.has_validation = progress.has_validation != 0;
    row.validation_loss = progress.validation_loss;
    row.validation_accuracy = progress.validation_accuracy;
    row.learning_rate = progress.learning_rate;
    row.seconds = progress.seconds;
    report_.epochs.push_back(row);
    if (!options_.common.json) {
      PrintEpoch(row, n_epochs_, report_.epochs.size() == 1, row.has_accuracy);
    }
  }

  // Epoch by epoch, with a checkpoint after each.
  void Fit() {
    const int64_t begin = port::NowNanos();
    bool finished = false;
    while (!finished) {
      const double left = options_.max_seconds - port::SecondsSince(begin);
      if (options_.max_seconds > 0.0 && left <= 0.0) break;
      const tw::Result<bool> step = trainer_->FitFor(options_.max_seconds > 0.0 ? left : 0.0, 1,
                                                     [this](const tw_trainer_progress& progress) {
                                                       Keep(progress);
                                                       return true;
                                                     });
      const bool stopped = StopRequested();
      if (!stopped || step.status().code() != TW_STATUS_CANCELLED) {
        CheckTrainer(step.status(), options_.common.model);
      }
      if (!options_.checkpoint.empty()) {
        Check(trainer_->SaveCheckpoint(options_.checkpoint));
      }
      if (stopped) Stopped();
      finished = *step;
      if (golden_ && PassesGolden()) {
        accepted_ = CheckValue(trainer_->ReadParameters());
        accepted_epoch_ = CheckValue(trainer_->Info()).n_epochs_done;
      }
    }
    NoteEnd(finished);
    NoteCandidates(*trainer_, &report_);
    if (!options_.common.json) PrintCandidates(report_);
    RollBack();
  }

  // The trainer's examples are those of the data, in their order.
  bool HoldsData() const {
    return data_ && options_.trainer.replay_capacity == 0 &&
           CheckValue(trainer_->Info()).n_examples == data_->size();
  }

  bool PassesGolden() {
    const tw_export_check check = CheckValue(trainer_->CheckExport());
    return check.golden_exported >= check.golden_shipped;
  }

  // To the last epoch that did no worse than the shipped head; without one the export is refused.
  void RollBack() {
    if (!golden_ || accepted_.empty() || PassesGolden()) return;
    Check(trainer_->WriteParameters(accepted_));
    report_.note =
        "the last epoch does worse on the golden set than the shipped head: the weights "
        "are those after epoch " +
        std::to_string(accepted_epoch_);
  }

  void NoteEnd(bool finished) {
    const tw_trainer_info info = CheckValue(trainer_->Info());
    if (!finished) report_.note = "training ended after --max-seconds, before its last epoch";
    const tw_stopping_options& stopping = options_.trainer.stopping;
    if (stopping.patience > 0 && finished && info.n_epochs_done < n_epochs_) {
      report_.note = "training ended early: no improvement for " +
                     std::to_string(stopping.patience) + " epochs; the weights are those " +
                     (stopping.keep_last != 0 ? "of the last epoch"
                                              : "after epoch " + std::to_string(info.best_epoch));
    }
  }

  void Judge() {
    if (options_.calibrate) {
      const tw_calibration c = CheckValue(trainer_->Calibrate());
      report_.has_calibration = true;
      report_.calibration.temperature = c.temperature;
      report_.calibration.error_before = c.error_before;
      report_.calibration.error_after = c.error_after;
      report_.calibration.loss_before = c.loss_before;
      report_.calibration.loss_after = c.loss_after;
    }
    JudgeValidation(HoldsData() ? &*data_ : nullptr, &*trainer_, &report_);
    if (data_) report_.evaluation.group_names = data_->group_names();
    // Deeper layers would be trained five times more for it.
    if (!options_.report.empty() && options_.layers == "last" && HoldsData()) {
      Timed("audit", [this] { AuditLabels(*data_, &*trainer_, &report_); });
    }
    tw::Result<tw_export_check> checked = trainer_->CheckExport();
    if (checked.status().code() == TW_STATUS_UNSUPPORTED) return;
    const tw_export_check check = CheckValue(std::move(checked));
    report_.golden = {check.n_golden, check.golden_shipped, check.golden_exported};
    report_.has_golden = check.n_golden > 0;
    report_.stored = {check.n_examples, check.trained, check.exported};
    report_.has_stored = check.n_examples > 0;
  }

  void Write() {
    if (!options_.output.empty()) {
      tw::Model model = CheckValue(trainer_->Export());
      if (options_.activation_map) {
        model = CheckValue(model.WithActivationMap(CheckValue(trainer_->Info()).head->output),
                           options_.common.model);
      }
      Check(model.Save(options_.output));
      report_.promised = settings_->get().reject_rate;
      const tw_rejection_summary* refused = CheckValue(trainer_->Info()).rejection;
      if (refused != nullptr) report_.rejection = *refused;
    } else if (golden_ && !PassesGolden()) {
      throw CliError(kExitData, options_.golden +
                                    ": the new head does worse on this golden set than "
                                    "the shipped one; nothing was written");
    }
    if (!options_.save_head.empty()) Check(trainer_->SaveHead(options_.save_head));
    if (!options_.memory.empty()) Check(trainer_->SaveCheckpoint(options_.memory, true));
    if (!options_.monitor.empty()) {
      Check(CheckValue(tw::Monitor::Create(*trainer_)).Save(options_.monitor));
    }
  }

  void Finish() {
    report_.timings.push_back({"total", port::SecondsSince(start_)});
    DescribeRun(options_, loss_, *trainer_, &report_);
    if (data_ && !data_->note().empty()) {
      report_.note = data_->note() + (report_.note.empty() ? "" : "; " + report_.note);
    }
    if (!options_.report.empty()) {
      const std::string html = RenderReport(report_);
      WriteWholeFile(options_.report, html.data(), html.size());
    }
    if (options_.common.json) {
      PrintJson(ReportJson(report_));
      return;
    }
    if (!report_.note.empty()) {
      std::printf("%s %s\n", Paint(1, "33", "note:").c_str(), report_.note.c_str());
    }
    PrintEnd(options_, report_);
  }

  TrainOptions options_;
  const int64_t start_;
  const tw::Model model_;
  tw::Tensor input_;
  Reading reading_;
  bool records_pixels_ = false;
  std::optional<Dataset> data_;
  std::optional<Dataset> golden_;
  std::optional<Dataset> negatives_;
  std::string loss_;
  int64_t n_epochs_;                           // in all
  std::optional<FeaturesFile> features_file_;  // outlives the trainer
  std::unique_ptr<TrainerSettings> settings_;
  std::optional<tw::Trainer> trainer_;
  std::vector<float> accepted_;  // weights that passed the golden set last
  int64_t accepted_epoch_ = 0;
  std::optional<tw::Session> signature_;  // of --signature: tells its input
  std::vector<int64_t> class_of_;         // class of the data → of the trainer; empty: the same
  TrainingReport report_;
};

}  // namespace

void AddTrainCommand(CLI::App* app) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command =
      app->add_subcommand("train", "Re-train a model's last layers on your own examples");
  AddTrainOptions(command, options.get());
  command->footer(
      "The network before what is trained stays as it is: it runs once for each example. Ctrl-C\n"
      "stops at the next step and keeps the checkpoint.\n\n"
      "Examples:\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --report mine.html\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --checkpoint "
      "mine.ckpt\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --checkpoint mine.ckpt "
      "--resume\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --optimizer lbfgs "
      "--weight-decay 1e-3\n"
      "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --layers last2 "
      "--augment 4 --flip --crop 0.1\n"
      "  topwork train mobilenet.tflite --data more/ --head mine.head --save-head mine.head\n"
      "  topwork train digits.tflite --data arrays/ --output mine.tflite --golden kept/ "
      "--init shipped");
  command->callback([options] {
    ChooseOptimizer(options.get());
    ChooseLayers(options.get());
    CheckTrainOptions(*options);
    Training(*options).Run();
  });
}

}  // namespace cli
}  // namespace topwork
