// Evaluations for people: a line with what matters most, then tables.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ports/cli/evaluation.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxPrintedClasses = 20;
constexpr size_t kWorstClasses = 10;
constexpr size_t kMetricNameWidth = 24;
constexpr size_t kWorstWidth = 40;

void PrintConfusion(const Evaluation& evaluation) {
  const size_t n = evaluation.size();
  bool others = false;
  for (size_t i = 0; i < n; ++i) others = others || evaluation.Count(i, n) > 0;
  std::printf("\n%s\n", Paint(1, "2",
                              "confusion matrix: rows are true classes, columns what the "
                              "model said")
                            .c_str());
  std::vector<std::string> titles = {"", ">"};
  for (size_t j = 0; j < n; ++j) titles.push_back(">" + std::to_string(j));
  if (others) titles.push_back(">other");
  Table table(titles);
  for (size_t i = 0; i < n; ++i) {
    std::vector<std::string> row = {Shorten(evaluation.class_names[i], kMetricNameWidth),
                                    Paint(1, "2", std::to_string(i))};
    for (size_t j = 0; j < n + (others ? 1 : 0); ++j) {
      const int64_t count = evaluation.Count(i, j);
      row.push_back(count == 0 ? Paint(1, "2", "·")
                               : Paint(1, i == j ? "1;32" : "31", std::to_string(count)));
    }
    table.Row(row);
  }
  table.Print(2);
}

// All classes; of many those of the lowest F1 that have examples, worst first.
std::vector<size_t> ClassesToPrint(const std::vector<tw_class_metrics>& all) {
  std::vector<size_t> order;
  for (size_t c = 0; c < all.size(); ++c) {
    if (all.size() <= kMaxPrintedClasses || all[c].n_examples > 0) order.push_back(c);
  }
  if (all.size() <= kMaxPrintedClasses) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].f1 < all[b].f1; });
  if (order.size() > kWorstClasses) order.resize(kWorstClasses);
  return order;
}

void PrintClasses(const Evaluation& evaluation) {
  if (evaluation.size() > kMaxPrintedClasses) {
    std::printf("\nthe classes of the lowest F1 (all %zu are in --json)\n", evaluation.size());
  } else {
    std::printf("\n");
  }
  const bool several = evaluation.kind == TW_LOSS_SIGMOID;
  Table table({"class", ">", ">examples", ">precision", ">recall", ">F1",
               several ? ">average precision" : ""});
  for (size_t c : ClassesToPrint(evaluation.per_class)) {
    const tw_class_metrics& m = evaluation.per_class[c];
    table.Row({Shorten(evaluation.class_names[c], kMetricNameWidth),
               Paint(1, "2", std::to_string(c)), std::to_string(m.n_examples),
               PercentText(m.precision), PercentText(m.recall), PercentText(m.f1),
               several        ? PercentText(m.average_precision)
               : UseColour(1) ? Paint(1, "32", Bar(m.recall, 16))
                              : ""});
  }
  table.Row({Paint(1, "2", "mean"), "", "", PercentText(evaluation.macro_precision),
             PercentText(evaluation.macro_recall), PercentText(evaluation.macro_f1),
             several ? PercentText(evaluation.mean_average_precision) : ""});
  table.Print(2);
}

void PrintOutputs(const Evaluation& evaluation) {
  Table table({"output", ">MAE", ">RMSE", ">R²"});
  const auto row = [&](const std::string& name, double mae, double rmse, double r2) {
    std::vector<std::string> cells = {Shorten(name, kMetricNameWidth)};
    for (const double value : {mae, rmse, r2}) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.4g", value);
      cells.push_back(text);
    }
    table.Row(cells);
  };
  const size_t n = evaluation.size() > kMaxPrintedClasses ? 0 : evaluation.size();
  for (size_t c = 0; c < n; ++c) {
    const tw_class_metrics& m = evaluation.per_class[c];
    row(evaluation.class_names[c], m.mean_absolute_error, m.root_mean_squared_error, m.r2);
  }
  if (n != 1) {
    row("all", evaluation.mean_absolute_error, evaluation.root_mean_squared_error, evaluation.r2);
  }
  std::printf("\n");
  table.Print(2);
}

void PrintSaidInstead(const Evaluation& evaluation) {
  std::string text;
  int64_t n_other = 0;
  for (size_t c = 0; c < evaluation.size() && !evaluation.matrix.empty(); ++c) {
    n_other += evaluation.Count(c, evaluation.size());
  }
  for (size_t i = 0; i < std::min<size_t>(3, evaluation.said_instead.size()); ++i) {
    text += (i > 0 ? ", " : "") + evaluation.said_instead[i].first + " (" +
            std::to_string(evaluation.said_instead[i].second) + ")";
  }
  if (n_other == 0 || text.empty()) return;
  std::printf(
      "%lld of %lld were put into classes that the data does not have;\n"
      "most often: %s\n",
      static_cast<long long>(n_other), static_cast<long long>(evaluation.n_examples), text.c_str());
}

void PrintGroups(const Evaluation& evaluation) {
  if (evaluation.per_group.empty()) return;
  const size_t n = std::min(kWorstClasses, evaluation.per_group.size());
  std::printf("\n%s\n",
              Paint(1, "2", "the worst of " + CountText(evaluation.n_groups, "group")).c_str());
  const bool loss = evaluation.is_regression();
  Table table({"group", ">examples", loss ? ">loss" : ">accuracy"});
  for (size_t g = 0; g < n; ++g) {
    const tw_group_metrics& group = evaluation.per_group[g];
    char text[32];
    std::snprintf(text, sizeof(text), "%.4g", group.loss);
    table.Row({Shorten(evaluation.GroupName(group.group), kMetricNameWidth),
               std::to_string(group.n_examples), loss ? text : PercentText(group.accuracy)});
  }
  table.Print(2);
}

// The first line of what is printed for people.
std::string Headline(const Evaluation& evaluation) {
  char text[160];
  if (evaluation.is_regression()) {
    std::snprintf(text, sizeof(text), "MAE %.4g, RMSE %.4g, R² ", evaluation.mean_absolute_error,
                  evaluation.root_mean_squared_error);
    char r2[32];
    std::snprintf(r2, sizeof(r2), "%.4f", evaluation.r2);
    return text + Paint(1, "1;32", r2);
  }
  if (evaluation.kind == TW_LOSS_SIGMOID) {
    return "decisions right " + Paint(1, "1;32", PercentText(evaluation.accuracy)) +
           ", all of an example's " + PercentText(evaluation.exact_match) +
           ", mean average precision " + PercentText(evaluation.mean_average_precision);
  }
  std::string line = "top-1 " + Paint(1, "1;32", PercentText(evaluation.top1));
  const size_t n_scores = std::max(evaluation.size(), evaluation.largest.size());
  if (n_scores > 5) line += ", top-5 " + PercentText(evaluation.top5);
  if (evaluation.k != 5) {
    line += ", top-" + std::to_string(evaluation.k) + " " + PercentText(evaluation.top_k);
  }
  return line;
}

}  // namespace

void PrintEvaluation(const Evaluation& evaluation) {
  std::string text = Headline(evaluation);
  if (std::isfinite(evaluation.loss)) {
    char loss[32];
    std::snprintf(loss, sizeof(loss), ", loss %.4f", evaluation.loss);
    text += loss;
  }
  if (!evaluation.bins.empty()) {
    text += ", calibration error " + PercentText(evaluation.calibration_error);
  }
  std::printf("%s on %lld examples\n", text.c_str(), static_cast<long long>(evaluation.n_examples));
  PrintGroups(evaluation);
  if (evaluation.is_regression()) {
    PrintOutputs(evaluation);
    return;
  }
  if (evaluation.kind == TW_LOSS_SOFTMAX) {
    PrintSaidInstead(evaluation);
    if (evaluation.top_k == 0.0 && evaluation.top5 == 0.0) return;  // all zeros
  }
  PrintClasses(evaluation);
  if (evaluation.kind == TW_LOSS_SOFTMAX && evaluation.size() <= kMaxPrintedClasses) {
    PrintConfusion(evaluation);
  }
}

void PrintWorst(const std::vector<WorstExample>& worst) {
  if (worst.empty()) return;
  std::printf("\n%s\n", Paint(1, "2", "the worst examples").c_str());
  Table table({"example", "label", "said", ">loss"});
  for (const WorstExample& example : worst) {
    char loss[32];
    std::snprintf(loss, sizeof(loss), "%.4f", example.loss);
    table.Row({Shorten(example.name, kWorstWidth), Shorten(example.label, kWorstWidth),
               Shorten(example.predicted, kWorstWidth), loss});
  }
  table.Print(2);
}

}  // namespace cli
}  // namespace topwork
