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
    for (int32_t layers = 1; layers <= kMostDepth; ++layers) {
      Tried tried;
      tried.row.layers = layers;
      if (layers == 1 || left() > 0.0) {
        Try(layers, &tried);
      } else {
        tried.row.skipped = "half of --max-seconds is over";
      }
      choice.rows.push_back(tried.row);
      if (!tried.row.skipped.empty()) break;
      if (layers == 1 || IsBetter(best, tried.losses)) {
        choice.layers = layers;
        best = tried.losses;
      }
    }
    for (DepthRow& row : choice.rows) row.chosen = row.layers == choice.layers;
    choice.reason = Reason(choice);
    return choice;
  }

 private:
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
  void Try(int32_t layers, Tried* tried) {
    const int64_t begin = port::NowNanos();
    TrainOptions options = WithDepth(options_, layers);
    options.reject = 0.0f;
    options.trainer.keep_held_back = 1;
    options.trainer.features.cache_path = nullptr;
    options.cache.clear();
    TrainerSettings settings(options, loss_, data_.class_names());
    record_(&settings);
    tw::Result<tw::Trainer> made = tw::Trainer::Create(model_, settings.get());
    if (!made.ok() && layers > 1) {
      tried->row.skipped = made.status().message();
      return;
    }
    tw::Trainer trainer = CheckValue(std::move(made), options_.common.model);
    const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
    tried->row.bytes = MemoryOf(CheckValue(trainer.Info()), options, data_.size());
    if (layers > 1 && tried->row.bytes > MemoryLimit(options_)) {
      tried->row.skipped = "its features and backbone would take " + HumanBytes(tried->row.bytes) +
                           ", " + HumanBytes(MemoryLimit(options_)) + " are allowed";
      return;
    }
    const std::string what =
        "features, " + std::to_string(layers) + (layers > 1 ? " layers" : " layer");
    Feeder feeder(data_, what, ShowProgress(options_.common.json));
    feeder.Finish(trainer.AddExamples(feeder.get()));
    const double seconds = std::isinf(left()) ? 0.0 : std::max(left(), 1e-3);
    const bool finished = CheckValue(trainer.FitFor(seconds));
    if (!finished && layers > 1) {
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
    const DepthRow& last = choice.rows.back();
    std::string reason =
        choice.layers == 1
            ? "the last layer alone: deeper ones do not lose less by more than a standard error"
            : "the last " + std::to_string(choice.layers) +
                  " layers: examples held back lose less than with fewer, by more than a standard "
                  "error";
    if (choice.layers == 1 && choice.rows.size() == 2 && !last.skipped.empty()) {
      reason = "the last layer alone";
    }
    if (!last.skipped.empty()) {
      reason += "; " + std::to_string(last.layers) + " layers were not tried: " + last.skipped;
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

TrainOptions WithDepth(const TrainOptions& given, int32_t layers) {
  TrainOptions options = given;
  options.layers = layers == 1 ? "last" : std::to_string(layers);
  if (layers > 1 && options.optimizer == "auto") options.optimizer = "adam";
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
    table.Row({row.layers == 1 ? "last" : "last " + std::to_string(row.layers),
               PercentText(row.accuracy), LossText(row.loss), HumanSeconds(row.seconds),
               HumanBytes(row.bytes), row.chosen ? "taken" : ""});
  }
  std::printf("\n");
  table.Print(2);
  std::printf("  %s\n", report.depth_reason.c_str());
}

}  // namespace cli
}  // namespace topwork
