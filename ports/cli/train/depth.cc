#include "ports/cli/train/depth.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "ports/cli/files.h"
#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr int kFolds = 5;  // of an audit without a closed form

// Beside the numbers of a table, in the order of the examples: 1 for one that is wrong where it is left
// out and 0 for the others, or the losses of those held back.
struct Tried {
  DepthRow row;
  std::vector<double> errors;
};

bool IsLast(const DepthRow& row) {
  return row.layers == 1 && row.projected == 0 && row.hidden == 0;
}

std::string LossText(double loss) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f", loss);
  return text;
}

double MemoryLimit(const TrainOptions& options) {
  const size_t limits[] = {options.trainer.features.cache_limit_bytes,
                           options.trainer.memory_limit_bytes};
  double sum = 0.0;
  for (size_t limit : limits) {
    if (limit == 0) return static_cast<double>(port::MemoryBytes()) / 2.0;
    sum += static_cast<double>(limit);
  }
  return sum;
}

// Features of all examples, and the network before them.
double MemoryOf(const tw_trainer_info& info, const TrainOptions& options, int64_t n_examples) {
  const double bytes_of_number = options.feature_type == "float16" ? 2.0 : 4.0;
  const double variants = 1.0 + options.trainer.augmentation.n_variants;
  return static_cast<double>(info.backbone_bytes) + static_cast<double>(n_examples) * variants *
                                                        static_cast<double>(info.n_features) *
                                                        bytes_of_number;
}

class DepthChooser {
 public:
  DepthChooser(const TrainOptions& options, const tw::Model& model, const Dataset& data,
               const std::string& loss, const std::function<void(TrainerSettings*)>& record)
      : options_(options), model_(model), data_(data), loss_(loss), record_(record) {}

  DepthChoice Choose() {
    DepthChoice choice;
    std::vector<double> best;
    size_t chosen = 0;
    for (const DepthRow& row : Candidates()) {
      Tried tried;
      tried.row = row;
      const bool first = choice.rows.empty();
      if (first || left() > 0.0) {
        Try(&tried);
      } else {
        tried.row.skipped = "half of --max-seconds is over";
      }
      choice.rows.push_back(tried.row);
      // What does not fit is not deeper either.
      if (!tried.row.skipped.empty() && (row.layers > 1 || left() <= 0.0)) break;
      if (tried.row.skipped.empty() && (first || IsBetter(best, tried.errors))) {
        chosen = choice.rows.size() - 1;
        best = tried.errors;
      }
      if (!IsBetter(best, std::vector<double>(best.size()))) break;
    }
    choice.rows[chosen].chosen = true;
    choice.chosen = choice.rows[chosen];
    choice.reason = Reason(choice);
    return choice;
  }

 private:
  std::vector<DepthRow> Candidates() const {
    std::vector<DepthRow> rows(1);
    if (options_.optimizer == "auto") {
      rows.resize(3);
      rows[1].projected = kProjected;
      rows[2].hidden = kHidden;
    }
    for (int32_t layers = 2; layers <= kMostDepth; ++layers) {
      rows.emplace_back();
      rows.back().layers = layers;
    }
    return rows;
  }

  // Of what choosing may take; infinite without a limit.
  double left() const {
    if (is_over_) return 0.0;
    if (options_.max_seconds <= 0.0) return HUGE_VAL;
    return options_.max_seconds / 2.0 - port::SecondsSince(start_);
  }

  // By more than a standard error of the mean difference.
  static bool IsBetter(const std::vector<double>& before, const std::vector<double>& now) {
    const double n = static_cast<double>(before.size());
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < before.size(); ++i) sum += before[i] - now[i];
    for (size_t i = 0; i < before.size(); ++i) {
      const double d = before[i] - now[i] - sum / n;
      squares += d * d;
    }
    return n > 1.0 && sum / n > std::sqrt(squares / (n - 1.0) / n);
  }

  // row.skipped tells why it was not tried.
  void Try(Tried* tried) {
    const int64_t begin = port::NowNanos();
    const bool first = IsLast(tried->row);
    TrainOptions options = WithDepth(options_, tried->row);
    options.reject = 0.0f;
    options.trainer.keep_held_back = 1;
    if (tried->row.layers > 1) options.cache.clear();
    TrainerSettings settings(options, loss_, data_.class_names());
    record_(&settings);
    tw::Result<tw::Trainer> made = tw::Trainer::Create(model_, settings.get());
    if (!made.ok() && !first) {
      tried->row.skipped = made.status().message();
      return;
    }
    tw::Trainer trainer = CheckValue(std::move(made), options_.common.model);
    const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
    tried->row.bytes = MemoryOf(CheckValue(trainer.Info()), options, data_.size());
    if (!first && tried->row.bytes > MemoryLimit(options_)) {
      tried->row.skipped = "its features and backbone would take " + HumanBytes(tried->row.bytes) +
                           ", " + HumanBytes(MemoryLimit(options_)) + " are allowed";
      return;
    }
    Feeder feeder(data_, "features, " + NameOf(tried->row), ShowProgress(options_.common.json));
    feeder.Finish(trainer.AddExamples(feeder.get()));
    const double seconds = std::isinf(left()) ? 0.0 : std::max(left(), 1e-3);
    const int64_t fit_begin = port::NowNanos();
    bool finished = CheckValue(trainer.FitFor(seconds));
    const bool in_folds = loss_ == "softmax" && options.optimizer != "auto";
    finished = finished && (!in_folds || left() > kFolds * port::SecondsSince(fit_begin));
    is_over_ = is_over_ || !finished;
    if (!finished && !first) {
      tried->row.skipped = "half of --max-seconds would be over before it is judged";
      return;
    }
    JudgeHeldBack(trainer, tried);
    if (finished && loss_ == "softmax") JudgeLeftOut(trainer, tried);
    tried->row.seconds = port::SecondsSince(begin);
  }

  void JudgeLeftOut(tw::Trainer& trainer, Tried* tried) const {
    const tw::Audit audit = CheckValue(trainer.AuditExamples());
    tried->errors.assign(audit.all.size(), 0.0);
    double n_wrong = 0.0;
    for (const tw_audited_example& example : audit.all) {
      if (example.suggested == example.label) continue;
      tried->errors[static_cast<size_t>(example.index)] = 1.0;
      n_wrong += 1.0;
    }
    tried->row.accuracy = 1.0 - n_wrong / static_cast<double>(audit.all.size());
  }

  void JudgeHeldBack(tw::Trainer& trainer, Tried* tried) const {
    const int64_t n = CheckValue(trainer.Info()).n_validation;
    const tw::Evaluation evaluation = CheckValue(trainer.Evaluate(static_cast<int32_t>(n)));
    std::vector<tw_worst_example> worst = evaluation.worst_examples;
    std::sort(worst.begin(), worst.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    for (const tw_worst_example& example : worst) tried->errors.push_back(example.loss);
    tried->row.loss = evaluation.loss;
    if (loss_ == "softmax" || loss_ == "sigmoid") tried->row.accuracy = evaluation.accuracy;
  }

  std::string Reason(const DepthChoice& choice) const {
    const auto tried = [](const DepthRow& row) { return row.skipped.empty(); };
    const bool left_out = loss_ == "softmax";
    std::string reason = NameOf(choice.chosen);
    if (!IsLast(choice.chosen)) {
      reason += left_out ? ": fewer examples left out are wrong" : ": examples held back lose less";
      reason += " than with the ones before, by more than a standard error";
    } else if (choice.rows.size() == 1) {
      reason += ": another could not be clearly better";
    } else if (std::count_if(choice.rows.begin(), choice.rows.end(), tried) > 1) {
      reason += left_out ? ": with the others not fewer examples left out are wrong"
                         : ": the others do not lose less";
      reason += " by more than a standard error";
    }
    for (const DepthRow& row : choice.rows) {
      if (!tried(row)) reason += "; " + NameOf(row) + ": not tried, " + row.skipped;
    }
    return reason;
  }

  const TrainOptions& options_;
  const tw::Model& model_;
  const Dataset& data_;
  const std::string& loss_;
  const std::function<void(TrainerSettings*)>& record_;
  const int64_t start_ = port::NowNanos();
  bool is_over_ = false;  // what is left of --max-seconds is too little for more
};

}  // namespace

TrainOptions WithDepth(const TrainOptions& given, const DepthRow& row) {
  TrainOptions options = given;
  options.layers = row.layers == 1 ? "last" : std::to_string(row.layers);
  options.trainer.head.n_projected = row.projected;
  options.trainer.head.n_hidden = row.hidden;
  const bool steps = row.layers > 1 || row.hidden > 0;
  if (steps && options.optimizer == "auto") options.optimizer = "adam";
  return options;
}

DepthChoice ChooseDepth(const TrainOptions& options, const tw::Model& model, const Dataset& data,
                        const std::string& loss,
                        const std::function<void(TrainerSettings*)>& record) {
  return DepthChooser(options, model, data, loss, record).Choose();
}

void PrintDepths(const TrainingReport& report) {
  Table table({"layers tried", ">accuracy", ">loss, held back", ">time", ">memory", ""});
  for (const DepthRow& row : report.depths) {
    if (!row.skipped.empty()) continue;
    table.Row({NameOf(row), PercentText(row.accuracy), LossText(row.loss),
               HumanSeconds(row.seconds), HumanBytes(row.bytes), row.chosen ? "taken" : ""});
  }
  std::printf("\n");
  table.Print(2);
  std::printf("  %s\n", report.depth_reason.c_str());
}

FeaturesFile::FeaturesFile(double bytes) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error || static_cast<double>(space.available) < 2.0 * bytes) return;
  const std::string path =
      (folder / ("topwork-features-" + std::to_string(port::RandomSeed()))).string();
  try {
    CheckWritable(path);
    path_ = path;
  } catch (const CliError&) {
  }
}

FeaturesFile::~FeaturesFile() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove(path_, error);
}

}  // namespace cli
}  // namespace topwork
