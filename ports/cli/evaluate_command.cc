// topwork evaluate: a classifier's accuracy on labelled data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/dataset.h"
#include "ports/cli/metrics.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

struct EvaluateOptions {
  CommonOptions common;
  std::string data;
  std::string labels;
};

constexpr int32_t kBatch = 8;

// One row of class scores, dequantized.
std::vector<double> ScoresAt(const tw::Tensor& output, int64_t row, int64_t n) {
  std::vector<double> scores(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = row * n + i;
    double value = 0.0;
    if (output.dtype == TW_DTYPE_FLOAT32) value = static_cast<double>(output.as<float>()[at]);
    if (output.dtype == TW_DTYPE_INT8) value = output.as<int8_t>()[at];
    if (output.dtype == TW_DTYPE_UINT8) value = output.as<uint8_t>()[at];
    if (output.n_scales == 1) {
      value = (value - static_cast<double>(output.zero_points[0])) *
              static_cast<double>(output.scales[0]);
    }
    scores[static_cast<size_t>(i)] = value;
  }
  return scores;
}

// −log of the class's probability. Scores that already are probabilities are taken as they are,
// others as logits.
double CrossEntropy(const std::vector<double>& scores, int64_t label) {
  const double score = scores[static_cast<size_t>(label)];
  if (AreProbabilities(scores)) return -std::log(std::max(score, 1e-12));
  const double largest = *std::max_element(scores.begin(), scores.end());
  double exp_sum = 0.0;
  for (double other : scores) exp_sum += std::exp(other - largest);
  return largest + std::log(exp_sum) - score;
}

// Which output of the model each class of the data is; −1: the model does not know it.
std::vector<int64_t> MatchClasses(const Dataset& data, const std::vector<std::string>& labels,
                                  int64_t n_outputs, std::string* note) {
  const std::vector<std::string>& names = data.class_names();
  std::vector<int64_t> match(names.size(), -1);
  size_t n_known = 0;
  for (size_t c = 0; data.has_images() && c < names.size(); ++c) {
    const auto found = std::find(labels.begin(), labels.end(), names[c]);
    if (found == labels.end() || found - labels.begin() >= n_outputs) continue;
    match[c] = found - labels.begin();
    ++n_known;
  }
  if (n_known > 0) {
    if (n_known < names.size()) {
      *note =
          std::to_string(names.size() - n_known) + " of " + std::to_string(names.size()) +
          " classes of the data are not among the model's labels: their examples count as wrong";
    }
    return match;
  }
  const bool by_order = data.has_images()
                            ? static_cast<int64_t>(names.size()) == n_outputs && labels.empty()
                            : static_cast<int64_t>(names.size()) <= n_outputs;
  if (by_order) {
    for (size_t c = 0; c < names.size(); ++c) match[c] = static_cast<int64_t>(c);
    if (data.has_images()) *note = "the model has no labels: folders are matched in sorted order";
    return match;
  }
  if (!data.has_images()) {
    throw CliError(kExitData, "y.npy has labels up to " + std::to_string(names.size() - 1) +
                                  ", the model tells " + std::to_string(n_outputs) +
                                  " classes apart");
  }
  *note = "the model knows none of the data's classes by name: every example counts as wrong";
  return match;
}

class Evaluator {
 public:
  Evaluator(const EvaluateOptions& options, const tw::Model& model)
      : options_(options), session_(OpenSession(model, options.common)) {
    if (session_.n_inputs() != 1) {
      throw CliError(kExitUnsupported, options.common.model + ": has " +
                                           std::to_string(session_.n_inputs()) +
                                           " inputs; evaluate needs a model of one input");
    }
    const tw::Tensor input = CheckValue(session_.Input(0));
    batch_ = input.rank > 0 ? std::max(1, input.dims[0]) : 1;
    const tw::Tensor output = CheckValue(session_.Output(0));
    n_outputs_ = output.rank >= 1 ? output.dims[output.rank - 1] : 0;
    if (n_outputs_ < 2 || !HoldsScores(output)) {
      throw CliError(kExitUnsupported, options.common.model + ": its output " + TensorText(output) +
                                           " is not a row of class scores for each example");
    }
  }

  // The input as it is now; its pointers go with the next run.
  tw::Tensor input() const { return CheckValue(session_.Input(0)); }
  int64_t n_outputs() const { return n_outputs_; }

  // `labels`: the model's own names, for what it says instead.
  Evaluation Run(const Dataset& data, const std::vector<int64_t>& match,
                 const std::vector<std::string>& labels) {
    const CancelOnStop cancel([this] { (void)session_.Cancel(); });
    Evaluation result;
    result.class_names = data.class_names();
    result.n_examples = data.size();
    result.confusion.assign(result.n_classes() * (result.n_classes() + 1), 0);
    ChooseBatch();
    Progress progress("evaluate", data.has_images() ? "images" : "examples",
                      ShowProgress(options_.common.json));
    for (int64_t first = 0; first < data.size(); first += batch_) {
      const int64_t n = std::min<int64_t>(batch_, data.size() - first);
      RunBatch(data, first, n, match, &result);
      progress.Update(first + n, data.size());
    }
    progress.Finish();
    const double total = static_cast<double>(data.size());
    result.top1 /= total;
    result.top5 /= total;
    result.loss = n_known_ > 0 ? result.loss / static_cast<double>(n_known_) : std::nan("");
    NameOthers(labels, &result);
    return result;
  }

 private:
  // One row of scores for every example of the batch, of a type that ScoresAt reads.
  bool HoldsScores(const tw::Tensor& output) const {
    const bool known = output.dtype == TW_DTYPE_FLOAT32 || output.dtype == TW_DTYPE_INT8 ||
                       output.dtype == TW_DTYPE_UINT8;
    int64_t n = 1;
    for (int32_t i = 0; i < output.rank; ++i) n *= output.dims[i];
    return known && n == batch_ * n_outputs_;
  }

  // A batch where the model takes one, else as it is.
  void ChooseBatch() {
    std::vector<int32_t> dims = input().shape();
    if (dims.empty() || dims[0] != 1) return;
    dims[0] = kBatch;
    batch_ = kBatch;
    if (session_.ResizeInput(0, dims).ok() && session_.Prepare().ok() &&
        HoldsScores(CheckValue(session_.Output(0)))) {
      return;
    }
    dims[0] = 1;
    batch_ = 1;
    Check(session_.ResizeInput(0, dims));
    Check(session_.Prepare());
  }

  void RunBatch(const Dataset& data, int64_t first, int64_t n, const std::vector<int64_t>& match,
                Evaluation* result) {
    const tw::Tensor input = CheckValue(session_.Input(0));
    const size_t example_bytes = input.bytes / static_cast<size_t>(batch_);
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<uint8_t> bytes = data.Read(first + i);
      std::memcpy(static_cast<uint8_t*>(input.data) + static_cast<size_t>(i) * example_bytes,
                  bytes.data(), std::min(bytes.size(), example_bytes));
    }
    Check(session_.Run(), options_.common.model);
    const tw::Tensor output = CheckValue(session_.Output(0));
    for (int64_t i = 0; i < n; ++i) {
      Judge(ScoresAt(output, i, n_outputs_), data.labels()[static_cast<size_t>(first + i)], match,
            result);
    }
  }

  void Judge(const std::vector<double>& scores, int64_t label, const std::vector<int64_t>& match,
             Evaluation* result) {
    const int64_t target = match[static_cast<size_t>(label)];
    const int64_t best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    const auto found = std::find(match.begin(), match.end(), best);
    const size_t column = static_cast<size_t>(found - match.begin());  // past the last: other
    ++result->confusion[static_cast<size_t>(label) * (result->n_classes() + 1) + column];
    if (found == match.end()) ++others_[best];
    if (target < 0) return;
    int64_t better = 0;
    for (double score : scores) better += score > scores[static_cast<size_t>(target)];
    ++n_known_;
    result->top1 += best == target ? 1.0 : 0.0;
    result->top5 += better < 5 ? 1.0 : 0.0;
    result->loss += CrossEntropy(scores, target);
  }

  void NameOthers(const std::vector<std::string>& labels, Evaluation* result) const {
    for (const auto& other : others_) {
      const size_t i = static_cast<size_t>(other.first);
      result->said_instead.push_back(
          {i < labels.size() ? labels[i] : "class " + std::to_string(i), other.second});
    }
    std::stable_sort(result->said_instead.begin(), result->said_instead.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (result->said_instead.size() > 10) result->said_instead.resize(10);
  }

  const EvaluateOptions& options_;
  tw::Session session_;
  int64_t n_outputs_ = 0;
  int32_t batch_ = 1;
  int64_t n_known_ = 0;                // examples whose class the model has
  std::map<int64_t, int64_t> others_;  // output that is no class of the data → how often
};

void Evaluate(const EvaluateOptions& options) {
  const tw::Model model = OpenModel(options.common.model);
  const std::vector<std::string> labels = LabelsFor(model, options.labels);
  Evaluator evaluator(options, model);
  if (!options.labels.empty() && static_cast<int64_t>(labels.size()) != evaluator.n_outputs()) {
    throw CliError(kExitData, options.labels + ": has " + std::to_string(labels.size()) +
                                  " names, the model tells " +
                                  std::to_string(evaluator.n_outputs()) + " classes apart");
  }
  const tw::Tensor input = evaluator.input();
  const Dataset data = Dataset::Open(options.data, input, ScaleFor(options.common, model, input));
  if (data.has_targets()) {
    throw CliError(kExitData,
                   options.data + ": has numbers for targets; evaluate needs one class an example");
  }
  std::string note;
  const std::vector<int64_t> match = MatchClasses(data, labels, evaluator.n_outputs(), &note);
  const Evaluation evaluation = evaluator.Run(data, match, labels);
  if (options.common.json) {
    Json json = EvaluationJson(evaluation);
    if (!note.empty()) json["note"] = note;
    PrintJson(json);
    return;
  }
  if (!note.empty()) std::fprintf(stderr, "%s %s\n", Paint(2, "33", "note:").c_str(), note.c_str());
  PrintEvaluation(evaluation);
}

}  // namespace

void AddEvaluateCommand(CLI::App* app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app->add_subcommand("evaluate", "Measure a classifier on labelled data");
  AddModelOption(command, &options->common);
  command
      ->add_option("--data", options->data,
                   "one folder of images per class (matched to the model's labels by name, else in "
                   "sorted order), or a folder with x.npy and y.npy")
      ->required()
      ->type_name("DIR");
  command->add_option("--labels", options->labels, "class names of the model, one a line")
      ->type_name("FILE");
  AddDeviceOptions(command, &options->common);
  AddImageOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "Class folders are matched to the model's labels by name; where the model has no labels and "
      "as\n"
      "many classes as there are folders, in sorted order. Examples of classes that the model "
      "does\n"
      "not have count as wrong.\n\n"
      "Examples:\n"
      "  topwork evaluate mine.tflite --data photos-kept-back/\n"
      "  topwork evaluate mine.tflite --data arrays/ --json | jq .top1");
  command->callback([options] { Evaluate(*options); });
}

}  // namespace cli
}  // namespace topwork
