// The judge of one class an example (softmax). Whether scores are probabilities is known after the
// last example only, so a few numbers of each are kept: enough for its loss and confidence both
// ways.
//   probabilities   loss −log p[label], confidence max p
//   logits          loss log Σ exp(z) − z[label], confidence exp(max z − log Σ exp(z))
#include <algorithm>
#include <cmath>
#include <map>

#include "ports/cli/judge.h"
#include "ports/cli/numbers.h"

namespace topwork {
namespace cli {
namespace {

// A confusion matrix of more classes is left out: nobody could read it.
constexpr size_t kMaxConfusionClasses = 4096;
constexpr size_t kMaxSaidInstead = 10;

struct Row {
  int64_t best = 0;         // position in the output
  double best_score = 0.0;  // its score
  double label_score = 0.0;
  double log_sum_exp = 0.0;
};

class ClassJudge : public Judge {
 public:
  ClassJudge(const Dataset& data, const JudgeOptions& options)
      : data_(data),
        options_(options),
        smallest_(options.half_step),
        rows_(static_cast<size_t>(data.size())) {
    result_.class_names = data.class_names();
    result_.n_examples = data.size();
    result_.k = options.k;
    const size_t n = result_.n_classes();
    if (n <= kMaxConfusionClasses) result_.confusion.assign(n * (n + 1), 0);
    result_.decisions.resize(n);
    for (size_t c = 0; c < n; ++c) result_.decisions[c].name = result_.class_names[c];
    n_right_.assign(n, 0);
  }

  void Add(int64_t i, const std::vector<double>& numbers) override {
    double sum = 0.0;
    for (double number : numbers) {
      smallest_.Add(number);
      if (options_.single_output) smallest_.Add(1.0 - number);
      in_unit_ = in_unit_ && number >= 0.0 && number <= 1.0;
      sum += number;
    }
    if (options_.single_output) {
      singles_.push_back(numbers[0]);
      return;
    }
    sums_to_one_ = sums_to_one_ && std::fabs(sum - 1.0) < 0.02;
    Count(i, numbers);
  }

  Evaluation Finish(std::vector<WorstExample>* worst) override {
    for (size_t i = 0; i < singles_.size(); ++i) {
      Count(static_cast<int64_t>(i), in_unit_ ? std::vector<double>{1.0 - singles_[i], singles_[i]}
                                              : std::vector<double>{0.0, singles_[i]});
    }
    const bool rows_fit = sums_to_one_ || options_.is_softmax_quantized || options_.single_output;
    const bool probabilities = in_unit_ && rows_fit;
    WorstList list(options_.n_worst);
    Reliability reliability;
    double loss = 0.0;
    int64_t n_known = 0;
    for (int64_t i = 0; i < data_.size(); ++i) {
      const Row& row = rows_[static_cast<size_t>(i)];
      const int64_t target = TargetOf(i);
      const double confidence =
          probabilities ? row.best_score : std::exp(row.best_score - row.log_sum_exp);
      reliability.Add(confidence, row.best == target);
      if (target < 0) continue;
      const double p = std::max(row.label_score, smallest_.value());
      const double example_loss = probabilities ? -std::log(p) : row.log_sum_exp - row.label_score;
      loss += example_loss;
      ++n_known;
      if (list.Wants(example_loss)) {
        list.Add({data_.Name(i), result_.class_names[LabelOf(i)], NameOf(row.best), example_loss});
      }
    }
    result_.loss = n_known > 0 ? loss / static_cast<double>(n_known) : std::nan("");
    reliability.Finish(&result_);
    FinishCounts();
    *worst = list.Take();
    return std::move(result_);
  }

 private:
  size_t LabelOf(int64_t i) const {
    return static_cast<size_t>(data_.labels()[static_cast<size_t>(i)]);
  }
  int64_t TargetOf(int64_t i) const { return options_.match[LabelOf(i)]; }

  // The class of the data that an output stands for; n_classes() for none.
  size_t ColumnOf(int64_t output) const {
    return static_cast<size_t>(std::find(options_.match.begin(), options_.match.end(), output) -
                               options_.match.begin());
  }

  std::string NameOf(int64_t output) const {
    const size_t column = ColumnOf(output), i = static_cast<size_t>(output);
    if (column < result_.n_classes()) return result_.class_names[column];
    return i < options_.labels.size() ? options_.labels[i] : "class " + std::to_string(output);
  }

  void Count(int64_t i, const std::vector<double>& scores) {
    Row& row = rows_[static_cast<size_t>(i)];
    row.best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    row.best_score = scores[static_cast<size_t>(row.best)];
    double sum = 0.0;
    for (double score : scores) sum += std::exp(score - row.best_score);
    row.log_sum_exp = row.best_score + std::log(sum);
    const size_t label = LabelOf(i), column = ColumnOf(row.best), n = result_.n_classes();
    if (!result_.confusion.empty()) ++result_.confusion[label * (n + 1) + column];
    ++result_.decisions[label].n_examples;
    if (column < n) ++result_.decisions[column].n_predicted;
    if (column == n) ++others_[row.best];
    const int64_t target = TargetOf(i);
    if (target < 0) return;
    row.label_score = scores[static_cast<size_t>(target)];
    int64_t rank = 0;  // scores above it, and equal ones before it
    for (size_t c = 0; c < scores.size(); ++c) {
      rank += scores[c] > row.label_score ||
              (scores[c] == row.label_score && static_cast<int64_t>(c) < target);
    }
    n_right_[label] += row.best == target;
    result_.top1 += rank < 1 ? 1.0 : 0.0;
    result_.top5 += rank < 5 ? 1.0 : 0.0;
    result_.top_k += rank < options_.k ? 1.0 : 0.0;
  }

  void FinishCounts() {
    const double n = static_cast<double>(data_.size());
    result_.top1 /= n;
    result_.top5 /= n;
    result_.top_k /= n;
    for (size_t c = 0; c < n_right_.size(); ++c) FinishClass(n_right_[c], &result_.decisions[c]);
    for (const auto& [output, count] : others_) {
      result_.said_instead.push_back({NameOf(output), count});
    }
    std::stable_sort(result_.said_instead.begin(), result_.said_instead.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (result_.said_instead.size() > kMaxSaidInstead) {
      result_.said_instead.resize(kMaxSaidInstead);
    }
  }

  const Dataset& data_;
  const JudgeOptions& options_;
  SmallestProbability smallest_;
  Evaluation result_;
  std::vector<Row> rows_;
  std::vector<int64_t> n_right_;
  std::vector<double> singles_;
  std::map<int64_t, int64_t> others_;  // output that is no class of the data → how often
  bool in_unit_ = true;
  bool sums_to_one_ = true;
};

}  // namespace

std::unique_ptr<Judge> MakeClassJudge(const Dataset& data, const JudgeOptions& options) {
  return std::make_unique<ClassJudge>(data, options);
}

void DescribeOutput(const tw_tensor_info& output, JudgeOptions* options) {
  if (!IsInteger(output.dtype) || output.n_scales != 1) return;
  options->half_step = 0.5 * static_cast<double>(output.scales[0]);
  options->is_softmax_quantized = HasSoftmaxQuantization(output);
}

bool WorstList::Wants(double loss) const {
  return worst_.size() < n_ || (n_ > 0 && loss > worst_.back().loss);
}

void WorstList::Add(const WorstExample& example) {
  const auto place = std::upper_bound(
      worst_.begin(), worst_.end(), example,
      [](const WorstExample& a, const WorstExample& b) { return a.loss > b.loss; });
  worst_.insert(place, example);
  if (worst_.size() > n_) worst_.pop_back();
}

std::vector<WorstExample> WorstList::Take() { return std::move(worst_); }

}  // namespace cli
}  // namespace topwork
