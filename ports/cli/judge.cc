// Judge: examples on their way to tw_judge, and the names of what comes back.
#include "ports/cli/judge.h"

#include <algorithm>
#include <cstdio>

#include "ports/cli/data/numbers.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMaxSaidInstead = 10;

// "0.5, 12, −3": a row, shortened.
std::string NumbersText(const float* row, size_t n) {
  constexpr size_t kMaxNumbers = 6;
  std::string text;
  for (size_t c = 0; c < std::min(n, kMaxNumbers); ++c) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.4g", static_cast<double>(row[c]));
    text += (c > 0 ? ", " : "") + std::string(number);
  }
  return text + (n > kMaxNumbers ? ", …" : "");
}

}  // namespace

void DescribeOutput(const tw_tensor_info& output, JudgeOptions* options) {
  if (!IsInteger(output.dtype) || output.n_scales != 1) return;
  options->half_step = 0.5 * static_cast<double>(output.scales[0]);
  options->is_softmax_quantized = HasSoftmaxQuantization(output);
}

void Judge::Create(size_t n_scores) {
  n_columns_ = data_.class_names().size();
  tw::JudgeOptions options;
  options.loss = options_.loss;
  options.n_classes = static_cast<int64_t>(n_columns_);
  options.n_scores = static_cast<int64_t>(n_scores);
  options.score_of_class = options_.match.data();
  const bool softmax = options_.loss == TW_LOSS_SOFTMAX;
  if (softmax && options_.is_softmax_quantized) options.scores = TW_SCORES_PROBABILITIES;
  options.smallest_probability = options_.half_step;
  options.top_k = options_.k;
  options.n_worst = options_.n_worst;
  options.huber_delta = options_.huber_delta;
  judge_.emplace(CheckValue(tw::Judge::Create(options)));
}

void Judge::Add(int64_t i, const std::vector<double>& numbers) {
  if (!judge_) Create(numbers.size());
  const std::vector<float> scores(numbers.begin(), numbers.end());
  const int32_t group = data_.has_groups() ? data_.group(i) : -1;
  if (options_.loss == TW_LOSS_SOFTMAX) {
    Check(judge_->Add(scores, data_.labels()[static_cast<size_t>(i)], group), data_.Name(i));
    return;
  }
  std::vector<float> targets(n_columns_);
  if (data_.has_targets()) {
    std::copy_n(data_.targets(i), n_columns_, targets.begin());
  } else {
    targets[static_cast<size_t>(data_.labels()[static_cast<size_t>(i)])] = 1.0f;
  }
  Check(judge_->AddTargets(scores, targets.data(), group), data_.Name(i));
  if (options_.n_worst == 0) return;
  targets_.insert(targets_.end(), targets.begin(), targets.end());
  for (const int64_t score : options_.match) {
    scores_.push_back(scores[static_cast<size_t>(score)]);
  }
}

Evaluation Judge::Finish(std::vector<WorstExample>* worst) {
  Evaluation result;
  static_cast<tw::Evaluation&>(result) = CheckValue(judge_->Read());
  result.k = options_.k;
  result.class_names = data_.class_names();
  result.group_names = data_.group_names();
  NameSaidInstead(&result);
  worst->clear();
  for (const tw_worst_example& example : result.worst_examples) {
    worst->push_back(Named(example, result));
  }
  return result;
}

// The data's class that the score stands for, else the model's own.
std::string Judge::NameOf(int64_t score) const {
  const size_t column = static_cast<size_t>(
      std::find(options_.match.begin(), options_.match.end(), score) - options_.match.begin());
  const size_t i = static_cast<size_t>(score);
  if (column < n_columns_) return data_.class_names()[column];
  return i < options_.labels.size() ? options_.labels[i] : "class " + std::to_string(score);
}

void Judge::NameSaidInstead(Evaluation* evaluation) const {
  auto& said = evaluation->said_instead;
  for (size_t i = 0; i < evaluation->largest.size(); ++i) {
    const int64_t score = static_cast<int64_t>(i);
    const bool known =
        std::find(options_.match.begin(), options_.match.end(), score) != options_.match.end();
    if (known || evaluation->largest[i] == 0) continue;
    said.push_back({NameOf(score), evaluation->largest[i]});
  }
  std::stable_sort(said.begin(), said.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (said.size() > kMaxSaidInstead) said.resize(kMaxSaidInstead);
}

template <typename IsIn>
std::string Judge::NamesOf(const IsIn& is_in) const {
  std::string text;
  for (size_t c = 0; c < n_columns_; ++c) {
    if (is_in(c)) text += (text.empty() ? "" : ", ") + data_.class_names()[c];
  }
  return text.empty() ? "none" : text;
}

WorstExample Judge::Named(const tw_worst_example& worst, const Evaluation& evaluation) const {
  WorstExample named{data_.Name(worst.index), "", "", worst.loss};
  if (options_.loss == TW_LOSS_SOFTMAX) {
    named.label = data_.class_names()[static_cast<size_t>(worst.label)];
    named.predicted = NameOf(worst.predicted);
    return named;
  }
  const size_t row = static_cast<size_t>(worst.index) * n_columns_;
  const float* scores = scores_.data() + row;
  const float* targets = targets_.data() + row;
  if (evaluation.is_regression()) {
    named.label = NumbersText(targets, n_columns_);
    named.predicted = NumbersText(scores, n_columns_);
    return named;
  }
  const float threshold = evaluation.are_probabilities != 0 ? 0.5f : 0.0f;
  named.label = NamesOf([&](size_t c) { return targets[c] >= 0.5f; });
  named.predicted = NamesOf([&](size_t c) { return scores[c] >= threshold; });
  return named;
}

}  // namespace cli
}  // namespace topwork
