#include "ports/cli/train/depth.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

// Beside the numbers of a table, the losses of the examples held back, in their order.
struct Tried {
  DepthRow row;
  std::vector<double> losses;
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
      if (tried.row.skipped.empty() && (first || IsBetter(best, tried.losses))) {
        chosen = choice.rows.size() - 1;
        best = tried.losses;
      }
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
    options.trainer.features.cache_path = nullptr;
    options.cache.clear();
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
    const bool finished = CheckValue(trainer.FitFor(seconds));
    if (!finished && !first) {
      tried->row.skipped = "half of --max-seconds was over before its training";
      return;
    }
    Judge(trainer, tried);
    tried->row.seconds = port::SecondsSince(begin);
  }

  static void Judge(tw::Trainer& trainer, Tried* tried) {
    const int64_t n = CheckValue(trainer.Info()).n_validation;
    const tw::Evaluation evaluation = CheckValue(trainer.Evaluate(static_cast<int32_t>(n)));
    std::vector<tw_worst_example> worst = evaluation.worst_examples;
    std::sort(worst.begin(), worst.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    for (const tw_worst_example& example : worst) tried->losses.push_back(example.loss);
    tried->row.loss = evaluation.loss;
    tried->row.accuracy = evaluation.accuracy;
  }

  static std::string Reason(const DepthChoice& choice) {
    const auto tried = [](const DepthRow& row) { return row.skipped.empty(); };
    std::string reason = NameOf(choice.chosen);
    if (!IsLast(choice.chosen)) {
      reason +=
          ": examples held back lose less than with the ones before, by more than a standard "
          "error";
    } else if (std::count_if(choice.rows.begin(), choice.rows.end(), tried) > 1) {
      reason += ": the others do not lose less by more than a standard error";
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
  Table table(
      {"layers tried, on examples held back", ">accuracy", ">loss", ">time", ">memory", ""});
  for (const DepthRow& row : report.depths) {
    if (!row.skipped.empty()) continue;
    table.Row({NameOf(row), PercentText(row.accuracy), LossText(row.loss),
               HumanSeconds(row.seconds), HumanBytes(row.bytes), row.chosen ? "taken" : ""});
  }
  std::printf("\n");
  table.Print(2);
  std::printf("  %s\n", report.depth_reason.c_str());
}

}  // namespace cli
}  // namespace topwork
