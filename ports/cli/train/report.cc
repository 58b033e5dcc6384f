// The library's numbers and JSON, put into a TrainingReport; and what the terminal shows of it.
#include "ports/cli/train/report.h"

#include <cmath>
#include <cstdio>

#include "ports/cli/data/thumbnail.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/classes.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kMaxWorst = 24;
constexpr double kIntervalCoverage = 0.9;

std::string Text(const char* format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string NameOf(const Dataset* data, int64_t example) {
  const bool known = data != nullptr && example < data->size();
  return known ? data->Name(example) : "example " + std::to_string(example);
}

// A note where held-back examples are nearly the same as others; else "".
std::string NearDuplicatesNote(const Dataset* data, tw::Trainer* trainer) {
  tw::AuditOptions options;
  options.duplicates_only = 1;
  const tw::Result<tw::Audit> audit = trainer->AuditExamples(options);
  if (audit.status().code() == TW_STATUS_UNSUPPORTED) return "";  // left out of the library
  const tw_near_duplicates found = CheckValue(audit).duplicates.value_or(tw_near_duplicates{});
  if (found.n_found == 0) return "";
  return std::to_string(found.n_found) + " of " + CountText(found.n_checked, "held-back example") +
         (found.n_found == 1 ? " is" : " are") + " nearly the same as training examples, such as " +
         NameOf(data, found.held_back) + " and " + NameOf(data, found.trained) +
         ": the figures of the validation set are too good; give what belongs together a group "
         "(folders CLASS/GROUP/IMAGE, or a column group of labels.csv)";
}

void NameWorst(const Dataset* data, TrainingReport* report) {
  const std::vector<std::string>& names = report->evaluation.class_names;
  const auto name_of = [&](int64_t c) {
    return c >= 0 && c < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(c)] : "";
  };
  for (const tw_worst_example& example : report->evaluation.worst_examples) {
    const bool known = data != nullptr && example.index < data->size();
    WorstRow row;
    row.name = NameOf(data, example.index);
    if (report->evaluation.kind == TW_LOSS_SOFTMAX) {
      row.label = name_of(example.label);
      row.predicted = name_of(example.predicted);
    }
    row.loss = example.loss;
    if (known && data->has_images()) row.image = ThumbnailOfFile(data->path(example.index));
    report->worst.push_back(row);
  }
}

const char kStepsDevice[] = "device of the steps";

std::string StepsDevice(const TrainingReport& report) {
  for (const auto& setting : report.settings) {
    if (setting.first == kStepsDevice) return setting.second;
  }
  return "cpu";
}

// A rate that the library chooses for Adam falls along a cosine.
std::string ScheduleText(const TrainOptions& options) {
  const bool chosen = options.trainer.optimizer.learning_rate == 0.0f &&
                      options.schedule == "constant" && options.memory.empty() &&
                      options.layers == "last" &&
                      (options.optimizer == "adam" || options.optimizer == "adamw");
  return chosen ? "cosine" : options.schedule;
}

// Which examples the head has seen.
std::string FittedOn(const tw_trainer_info& info) {
  if (info.fitted_on_all != 0) {
    return "all " + std::to_string(info.n_examples) + ", once more after the run";
  }
  return std::to_string(info.n_examples - info.n_validation);
}

void PrintRefusing(const TrainingReport& report) {
  const tw_rejection_summary& r = report.rejection;
  if (r.n_calibrated == 0) return;
  std::printf("refused as unknown: %s of the examples, each judged as if it had not been taught",
              PercentText(r.known_refused).c_str());
  if (r.n_negatives > 0) {
    std::printf("; %s of the negatives", PercentText(r.negatives_refused).c_str());
  }
  std::printf(" (promised: at most %s)\n",
              PercentText(static_cast<double>(report.promised)).c_str());
}

void PrintComparison(const char* what, const char* before, const char* after, bool is_accuracy,
                     const ComparisonResult& result) {
  const auto value = [&](double v) { return is_accuracy ? PercentText(v) : Text("%.4f", v); };
  std::printf("%s %s: %s, %s: %s (%lld examples)\n", what, before, value(result.before).c_str(),
              after, value(result.after).c_str(), static_cast<long long>(result.n_examples));
}

}  // namespace

void JudgeValidation(const Dataset* data, tw::Trainer* trainer, TrainingReport* report) {
  if (CheckValue(trainer->Info()).n_validation == 0) return;
  Evaluation* evaluation = &report->evaluation;
  tw::Result<tw::Evaluation> judged = trainer->Evaluate(kMaxWorst);
  if (judged.status().code() == TW_STATUS_UNSUPPORTED) return;
  static_cast<tw::Evaluation&>(*evaluation) = CheckValue(std::move(judged));
  evaluation->class_names = ClassNames(*trainer);
  NameWorst(data, report);
  const tw::Result<tw_interval_check> intervals = trainer->CheckIntervals(kIntervalCoverage);
  report->has_intervals = intervals.ok();
  if (intervals.ok()) report->intervals = *intervals;
  report->interval_coverage = kIntervalCoverage;
  const std::string note = NearDuplicatesNote(data, trainer);
  if (!note.empty()) report->note += (report->note.empty() ? "" : "; ") + note;
  report->has_evaluation = true;
  report->evaluated_on = std::to_string(evaluation->n_examples) + " examples of the validation set";
}

void AuditLabels(const Dataset& data, tw::Trainer* trainer, TrainingReport* report) {
  const tw::Result<tw::Audit> audit = trainer->AuditExamples();
  if (audit.status().code() == TW_STATUS_UNSUPPORTED) return;
  Check(audit.status());
  report->has_audit = true;
  report->n_suspects = audit->n_suspects;
  const std::vector<std::string> names = ClassNames(*trainer);
  for (const tw_audited_example& example : audit->all) {
    if (example.is_suspect == 0 || report->suspects.size() == kMaxWorst) continue;
    SuspectRow row = {data.Name(example.index), names[static_cast<size_t>(example.label)],
                      names[static_cast<size_t>(example.suggested)], example.margin, ""};
    if (data.has_images()) row.image = ThumbnailOfFile(data.path(example.index));
    report->suspects.push_back(row);
  }
}

void DescribeRun(const TrainOptions& options, const std::string& loss, const tw::Trainer& trainer,
                 TrainingReport* report) {
  const tw_trainer_info info = CheckValue(trainer.Info());
  report->model = options.common.model;
  report->data = options.data;
  report->output = options.output.empty() ? options.save_head : options.output;
  report->fitted_on_all = info.fitted_on_all != 0;
  report->n_examples = info.n_examples;
  report->settings = {
      {"examples", std::to_string(info.n_examples)},
      {loss == "mse" || loss == "huber" ? "outputs" : "classes", std::to_string(info.n_classes)},
      {"features", std::to_string(info.n_features)},
      {"validation set", std::to_string(info.n_validation)},
      {"fitted on", FittedOn(info)},
      {"layers", options.layers + (options.trainer.head.bias_only != 0 ? ", biases only" : "")},
      {"loss", loss},
      {"optimizer", options.optimizer},
      {"epochs", std::to_string(info.n_epochs_done)},
      {"seed", std::to_string(options.trainer.seed)}};
  if (info.optimizer != TW_OPTIMIZER_AUTO) {
    const auto at = report->settings.end() - 2;
    report->settings.insert(at, {{"learning rate", Text("%.4g", info.learning_rate)},
                                 {"schedule", ScheduleText(options)},
                                 {"batch", std::to_string(options.trainer.batch_size)}});
  }
  if (info.n_groups > 0) report->settings.push_back({"groups", std::to_string(info.n_groups)});
  if (info.best_epoch > 0) {
    report->settings.push_back({"best epoch", std::to_string(info.best_epoch)});
  }
  if (info.n_cached > 0) {
    report->settings.push_back({"features from the cache", std::to_string(info.n_cached)});
  }
  std::string places;
  for (size_t i = 0; i < info.n_workers; ++i) {
    const std::string place = info.workers[i].place;
    if (places.find(place) == std::string::npos) places += (places.empty() ? "" : ", ") + place;
  }
  const std::string note = info.worker_note;
  report->settings.push_back(
      {"device of the features", places + (note.empty() ? "" : "; " + note)});
  const std::string reason = info.device_reason;
  report->settings.push_back(
      {kStepsDevice, std::string(info.device) + (reason.empty() ? "" : "; " + reason)});
  report->model_info = {{"head", info.head->op},
                        {"storage", info.head->storage},
                        {"parameters trained", std::to_string(info.n_values)}};
  report->memory = {{"backbone", static_cast<double>(info.backbone_bytes)},
                    {"features", static_cast<double>(info.cache_bytes)},
                    {"training", static_cast<double>(info.training_bytes)},
                    {"working", static_cast<double>(info.working_bytes)},
                    {"sum", static_cast<double>(info.memory_bytes)},
                    {"peak", static_cast<double>(port::PeakRssBytes())}};
  if (info.device_bytes > 0) {
    report->memory.insert(report->memory.end() - 2,
                          {"on the device", static_cast<double>(info.device_bytes)});
  }
}

void NoteCandidates(const tw::Trainer& trainer, TrainingReport* report) {
  const tw_trainer_info info = CheckValue(trainer.Info());
  const bool has_accuracy = report->epochs.empty() || report->epochs.back().has_accuracy;
  for (size_t i = 0; i < info.n_candidates; ++i) {
    const tw_trainer_candidate& from = info.candidates[i];
    const double accuracy = has_accuracy ? from.accuracy : NAN;
    report->candidates.push_back(
        {from.name, accuracy, from.loss, from.seconds, from.is_chosen != 0});
  }
  report->choice = info.choice_reason;
}

void PrintCandidates(const TrainingReport& report) {
  if (report.candidates.empty()) {
    if (!report.choice.empty()) std::printf("  %s\n", report.choice.c_str());
    return;
  }
  Table table({"tried, on examples left out", ">accuracy", ">loss", ">time", ""});
  for (const CandidateRow& row : report.candidates) {
    table.Row({row.name, PercentText(row.accuracy), Text("%.4f", row.loss),
               HumanSeconds(row.seconds), row.chosen ? "taken" : ""});
  }
  std::printf("\n");
  table.Print(2);
  std::printf("  %s\n", report.choice.c_str());
}

void PrintEpoch(const EpochRow& row, int64_t n_epochs, bool is_first, bool has_accuracy) {
  if (is_first) {
    std::string title = "   epoch      loss";
    if (has_accuracy) title += "  accuracy";
    if (row.has_validation) title += "  validation: loss";
    if (row.has_validation && has_accuracy) title += "  accuracy";
    std::printf("\n%s\n", Paint(1, "2", title).c_str());
  }
  std::printf("%4lld/%-4lld %8.4f", static_cast<long long>(row.epoch),
              static_cast<long long>(n_epochs), row.train_loss);
  if (has_accuracy) std::printf("   %5.1f %%", 100.0 * row.train_accuracy);
  if (row.has_validation) std::printf("          %8.4f", row.validation_loss);
  const double shown = row.has_validation ? row.validation_accuracy : row.train_accuracy;
  if (row.has_validation && has_accuracy) {
    std::printf("   %s", Paint(1, "1", Text("%5.1f %%", 100.0 * shown)).c_str());
  }
  if (has_accuracy && UseColour(1)) std::printf("  %s", Paint(1, "32", Bar(shown, 20)).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

void PrintEnd(const TrainOptions& options, const TrainingReport& report) {
  if (report.has_evaluation) {
    std::printf("\n%s ", Paint(1, "1", "validation set:").c_str());
    PrintEvaluation(report.evaluation);
    if (report.has_intervals) {
      std::printf(
          "intervals for %s of new targets: %.4g wide on average, and %s of these are inside\n",
          PercentText(report.interval_coverage).c_str(), report.intervals.mean_width,
          PercentText(report.intervals.coverage).c_str());
    }
  }
  if (report.fitted_on_all) {
    std::printf(
        "then the layers were fitted once more on all %lld examples; the figures above are from "
        "before that (--keep-held-back leaves it out)\n",
        static_cast<long long>(report.n_examples));
  }
  const bool accuracy = report.evaluation.kind == TW_LOSS_SOFTMAX;
  const char* unit = accuracy ? "accuracy" : "minus the loss";
  if (report.has_calibration) {
    std::printf("calibrated: temperature %.3f, calibration error %.4f before, %.4f after\n",
                report.calibration.temperature, report.calibration.error_before,
                report.calibration.error_after);
  }
  if (report.has_golden) {
    PrintComparison("golden set,", (std::string(unit) + " of the shipped head").c_str(),
                    "of the new", accuracy, report.golden);
  }
  if (report.has_stored && std::fabs(report.stored.before - report.stored.after) >= 0.00005) {
    PrintComparison("in the model's own storage,", (std::string(unit) + " as trained").c_str(),
                    "as written", accuracy, report.stored);
  }
  PrintRefusing(report);
  double total = 0.0;
  std::string parts;
  for (const auto& timing : report.timings) {
    if (timing.first == "total") {
      total = timing.second;
    } else {
      parts += (parts.empty() ? "" : ", ") + timing.first + " " + HumanSeconds(timing.second);
    }
  }
  std::printf("\n%s in %s (%s)\n", Paint(1, "1;32", "done").c_str(), HumanSeconds(total).c_str(),
              parts.c_str());
  const std::string device = StepsDevice(report);
  const bool asked = options.common.device != "cpu" && options.common.device != "auto";
  if (asked || device.rfind("cpu", 0) != 0) std::printf("  device  %s\n", device.c_str());
  std::string memory;
  for (const auto& part : report.memory) {
    if (part.first == "sum" || part.first == "peak") continue;
    memory += (memory.empty() ? "" : " + ") + part.first + " " + HumanBytes(part.second);
  }
  std::printf("  memory  %s; peak of the process %s\n", memory.c_str(),
              HumanBytes(report.memory.back().second).c_str());
  const std::pair<const char*, const std::string*> files[] = {
      {"model ", &options.output}, {"head  ", &options.save_head},
      {"report", &options.report}, {"resume", &options.checkpoint},
      {"memory", &options.memory}, {"monitor", &options.monitor}};
  for (const auto& file : files) {
    if (!file.second->empty()) {
      std::printf("  %s  %s\n", file.first, Paint(1, "1", *file.second).c_str());
    }
  }
}

}  // namespace cli
}  // namespace topwork
