// Two evaluations on the same examples, and how far the outputs lie apart.
#include "ports/cli/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>

#include "ports/cli/evaluate.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

double SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw CliError(kExitIo, path + ": cannot read it: " + error.message());
  return static_cast<double>(size);
}

size_t BestOf(const std::vector<double>& numbers) {
  return static_cast<size_t>(std::max_element(numbers.begin(), numbers.end()) - numbers.begin());
}

// The figure that says how good a model is, and what it is called.
double FigureOf(const Evaluation& evaluation, const char** name) {
  if (evaluation.is_regression()) {
    *name = "mean absolute error";
    return evaluation.mean_absolute_error;
  }
  *name = evaluation.kind == TW_LOSS_SIGMOID ? "accuracy" : "top-1 accuracy";
  return evaluation.kind == TW_LOSS_SIGMOID ? evaluation.accuracy : evaluation.top1;
}

std::string FigureText(const Evaluation& evaluation) {
  const char* name = "";
  const double figure = FigureOf(evaluation, &name);
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", figure);
  return evaluation.is_regression() ? text : PercentText(figure);
}

}  // namespace

ModelComparison CompareModels(const ComparisonOptions& options, const tw::Model& before,
                              const tw::Model& after) {
  ModelComparison result;
  EvaluateOptions evaluate;
  evaluate.common = options.common;
  evaluate.data = options.data;
  evaluate.output_name = options.output_name;
  evaluate.examples = options.examples;
  std::vector<std::vector<double>> rows;
  EvaluationExtras first;
  first.take = [&](int64_t, const std::vector<double>& numbers) { rows.push_back(numbers); };
  result.before = EvaluateModel(evaluate, before, &first);
  result.note = first.note;

  evaluate.common.model = options.after;
  int64_t n_equal = 0, n_numbers = 0;
  double sum = 0.0;
  EvaluationExtras second;
  second.take = [&](int64_t i, const std::vector<double>& numbers) {
    const std::vector<double>& row = rows[static_cast<size_t>(i)];
    n_equal += BestOf(row) == BestOf(numbers);
    for (size_t k = 0; k < std::min(row.size(), numbers.size()); ++k) {
      const double difference = std::fabs(row[k] - numbers[k]);
      sum += difference;
      result.max_difference = std::max(result.max_difference, difference);
      ++n_numbers;
    }
  };
  result.after = EvaluateModel(evaluate, after, &second);
  result.n_examples = static_cast<int64_t>(rows.size());
  if (result.n_examples > 0 && !result.before.is_regression()) {
    result.agreement = static_cast<double>(n_equal) / static_cast<double>(result.n_examples);
  }
  if (n_numbers > 0) result.mean_difference = sum / static_cast<double>(n_numbers);
  return result;
}

void AddComparisonJson(const ModelComparison& comparison, Json* json) {
  (*json)["n_examples"] = comparison.n_examples;
  (*json)["before"] = EvaluationJson(comparison.before);
  (*json)["after"] = EvaluationJson(comparison.after);
  if (!comparison.before.is_regression()) (*json)["agreement"] = comparison.agreement;
  (*json)["mean_abs_difference"] = comparison.mean_difference;
  (*json)["max_abs_difference"] = comparison.max_difference;
  if (!comparison.note.empty()) (*json)["note"] = comparison.note;
}

void PrintComparison(const ModelComparison& comparison) {
  const char* name = "";
  (void)FigureOf(comparison.before, &name);
  std::printf("%s  %s %s, before %s, on %lld examples\n", Paint(1, "2", "figure").c_str(), name,
              FigureText(comparison.after).c_str(), FigureText(comparison.before).c_str(),
              static_cast<long long>(comparison.n_examples));
  if (!comparison.before.is_regression()) {
    std::printf("%s  %s of the examples have the same largest output\n",
                Paint(1, "2", "agrees").c_str(), PercentText(comparison.agreement).c_str());
  }
  std::printf("%s  outputs differ by %.3g on average, %.3g at most\n",
              Paint(1, "2", "differs").c_str(), comparison.mean_difference,
              comparison.max_difference);
}

void PrintSizes(const std::string& before, const std::string& after) {
  const double old_size = SizeOf(before);
  const double new_size = SizeOf(after);
  std::printf("%s  %s: %s, %.0f %% of %s\n", Paint(1, "2", "size").c_str(), after.c_str(),
              HumanBytes(new_size).c_str(), 100.0 * new_size / std::max(1.0, old_size),
              HumanBytes(old_size).c_str());
}

void AddSizesJson(const std::string& before, const std::string& after, Json* json) {
  (*json)["model_bytes"] = static_cast<int64_t>(SizeOf(before));
  (*json)["output_bytes"] = static_cast<int64_t>(SizeOf(after));
}

void SplitExamples(int64_t n, int64_t n_first, std::vector<int64_t>* first,
                   std::vector<int64_t>* rest) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(static_cast<uint64_t>(n));
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const auto middle = order.begin() + static_cast<ptrdiff_t>(std::min(n, n_first));
  first->assign(order.begin(), middle);
  rest->assign(middle, order.end());
  std::sort(first->begin(), first->end());
  std::sort(rest->begin(), rest->end());
}

}  // namespace cli
}  // namespace topwork
