// The judges of examples with a row of numbers: several classes (sigmoid), regression (mse, huber).
//   sigmoid   loss: mean over the columns of the cross-entropy of σ(z) or p with t; a decision is
//             p ≥ 0.5; average precision Σ (R_n − R_{n−1}) P_n, equal scores taken together
//   mse       loss: mean over the columns of (z − t)²; huber: ½(z − t)², linear beyond
//             huber_delta
//   R²        1 − Σ(z − t)² / Σ(t − mean t)²; constant targets: 1 when all are met, else 0
// The numbers of all examples are kept.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "ports/cli/judge.h"

namespace topwork {
namespace cli {
namespace {

double SoftPlus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// Numbers and targets of all examples, [n_examples, n_columns].
class TargetJudge : public Judge {
 public:
  TargetJudge(const Dataset& data, const JudgeOptions& options)
      : data_(data),
        options_(options),
        smallest_(options.half_step),
        n_columns_(data.class_names().size()) {
    result_.kind = options.kind;
    result_.class_names = data.class_names();
    result_.n_examples = data.size();
  }

  void Add(int64_t i, const std::vector<double>& numbers) override {
    for (size_t c = 0; c < n_columns_; ++c) {
      const double number = numbers[static_cast<size_t>(options_.match[c])];
      in_unit_ = in_unit_ && number >= 0.0 && number <= 1.0;
      smallest_.Add(number);
      smallest_.Add(1.0 - number);
      numbers_.push_back(number);
      targets_.push_back(data_.has_targets() ? static_cast<double>(data_.targets(i)[c])
                         : data_.labels()[static_cast<size_t>(i)] == static_cast<int64_t>(c) ? 1.0
                                                                                             : 0.0);
    }
  }

 protected:
  size_t n_examples() const { return static_cast<size_t>(data_.size()); }
  double number(size_t i, size_t c) const { return numbers_[i * n_columns_ + c]; }
  double target(size_t i, size_t c) const { return targets_[i * n_columns_ + c]; }

  const Dataset& data_;
  const JudgeOptions& options_;
  SmallestProbability smallest_;
  const size_t n_columns_;
  Evaluation result_;
  std::vector<double> numbers_;
  std::vector<double> targets_;
  bool in_unit_ = true;
};

class DecisionJudge : public TargetJudge {
 public:
  using TargetJudge::TargetJudge;

  Evaluation Finish(std::vector<WorstExample>* worst) override {
    result_.decisions.resize(n_columns_);
    n_right_.assign(n_columns_, 0);
    WorstList list(options_.n_worst);
    Reliability reliability;
    for (size_t i = 0; i < n_examples(); ++i) {
      const double loss = JudgeExample(i, &reliability);
      result_.loss += loss;
      const int64_t example = static_cast<int64_t>(i);
      if (!list.Wants(loss)) continue;
      list.Add({data_.Name(example), Names([&](size_t c) { return target(i, c) >= 0.5; }),
                Names([&](size_t c) { return Says(i, c); }), loss});
    }
    const double n = static_cast<double>(n_examples());
    result_.loss /= n;
    result_.exact_match /= n;
    result_.accuracy /= n * static_cast<double>(n_columns_);
    reliability.Finish(&result_);
    int64_t n_with_examples = 0;
    for (size_t c = 0; c < n_columns_; ++c) {
      ClassMetrics& metrics = result_.decisions[c];
      metrics.name = result_.class_names[c];
      FinishClass(n_right_[c], &metrics);
      metrics.average_precision = AveragePrecision(c, metrics.n_examples);
      n_with_examples += metrics.n_examples > 0;
      result_.mean_average_precision += metrics.average_precision;
    }
    result_.mean_average_precision /= static_cast<double>(std::max<int64_t>(1, n_with_examples));
    *worst = list.Take();
    return std::move(result_);
  }

 private:
  bool Says(size_t i, size_t c) const { return number(i, c) >= (in_unit_ ? 0.5 : 0.0); }

  // Counts the example's decisions and returns its loss.
  double JudgeExample(size_t i, Reliability* reliability) {
    double loss = 0.0;
    bool exact = true;
    for (size_t c = 0; c < n_columns_; ++c) {
      const double z = number(i, c);
      const bool positive = target(i, c) >= 0.5, says = Says(i, c);
      if (in_unit_) {
        loss -= std::log(std::max(positive ? z : 1.0 - z, smallest_.value()));
      } else {
        loss += SoftPlus(positive ? -z : z);
      }
      const double p = in_unit_ ? z : 1.0 / (1.0 + std::exp(-z));
      reliability->Add(std::max(p, 1.0 - p), says == positive);
      result_.decisions[c].n_examples += positive;
      result_.decisions[c].n_predicted += says;
      n_right_[c] += positive && says;
      result_.accuracy += says == positive ? 1.0 : 0.0;
      exact = exact && says == positive;
    }
    result_.exact_match += exact ? 1.0 : 0.0;
    return loss / static_cast<double>(n_columns_);
  }

  template <typename IsIn>
  std::string Names(const IsIn& is_in) const {
    std::string text;
    for (size_t c = 0; c < n_columns_; ++c) {
      if (is_in(c)) text += (text.empty() ? "" : ", ") + result_.class_names[c];
    }
    return text.empty() ? "none" : text;
  }

  double AveragePrecision(size_t c, int64_t n_positives) const {
    std::vector<size_t> order(n_examples());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return number(a, c) > number(b, c); });
    double sum = 0.0, n_found = 0.0;
    for (size_t at = 0; at < order.size();) {
      const double score = number(order[at], c);
      double n_new = 0.0;
      for (; at < order.size() && number(order[at], c) == score; ++at) {
        n_new += target(order[at], c) >= 0.5 ? 1.0 : 0.0;
      }
      n_found += n_new;
      sum += n_new * n_found / static_cast<double>(at);
    }
    return n_positives == 0 ? 0.0 : sum / static_cast<double>(n_positives);
  }

  std::vector<int64_t> n_right_;  // of the positives
};

class ErrorJudge : public TargetJudge {
 public:
  using TargetJudge::TargetJudge;

  Evaluation Finish(std::vector<WorstExample>* worst) override {
    const double n = static_cast<double>(n_examples());
    const double n_columns = static_cast<double>(n_columns_);
    result_.overall.name = "all";
    double squared = 0.0;
    for (size_t c = 0; c < n_columns_; ++c) {
      const OutputMetrics metrics = JudgeColumn(c);
      result_.overall.mae += metrics.mae / n_columns;
      result_.overall.r2 += metrics.r2 / n_columns;
      squared += metrics.rmse * metrics.rmse / n_columns;
      result_.outputs.push_back(metrics);
    }
    result_.overall.rmse = std::sqrt(squared);
    WorstList list(options_.n_worst);
    for (size_t i = 0; i < n_examples(); ++i) {
      const double loss = Loss(i);
      result_.loss += loss / n;
      if (!list.Wants(loss)) continue;
      list.Add(
          {data_.Name(static_cast<int64_t>(i)), Numbers(targets_, i), Numbers(numbers_, i), loss});
    }
    *worst = list.Take();
    return std::move(result_);
  }

 private:
  OutputMetrics JudgeColumn(size_t c) const {
    OutputMetrics metrics;
    metrics.name = result_.class_names[c];
    const double n = static_cast<double>(n_examples());
    double mean = 0.0, squared = 0.0, spread = 0.0;
    for (size_t i = 0; i < n_examples(); ++i) {
      const double t = target(i, c), error = number(i, c) - t, from_old_mean = t - mean;
      metrics.mae += std::fabs(error) / n;
      squared += error * error;
      mean += from_old_mean / static_cast<double>(i + 1);
      spread += from_old_mean * (t - mean);
    }
    metrics.rmse = std::sqrt(squared / n);
    metrics.r2 = spread > 0.0 ? 1.0 - squared / spread : squared == 0.0 ? 1.0 : 0.0;
    return metrics;
  }

  double Loss(size_t i) const {
    const double delta = static_cast<double>(options_.huber_delta);
    double loss = 0.0;
    for (size_t c = 0; c < n_columns_; ++c) {
      const double error = std::fabs(number(i, c) - target(i, c));
      if (options_.kind == "mse") loss += error * error;
      if (options_.kind == "huber") {
        loss += error <= delta ? 0.5 * error * error : delta * (error - 0.5 * delta);
      }
    }
    return loss / static_cast<double>(n_columns_);
  }

  // "0.5, 12, −3": row i, shortened.
  std::string Numbers(const std::vector<double>& rows, size_t i) const {
    constexpr size_t kMaxNumbers = 6;
    std::string text;
    for (size_t c = 0; c < std::min(n_columns_, kMaxNumbers); ++c) {
      char number[32];
      std::snprintf(number, sizeof(number), "%.4g", rows[i * n_columns_ + c]);
      text += (c > 0 ? ", " : "") + std::string(number);
    }
    return text + (n_columns_ > kMaxNumbers ? ", …" : "");
  }
};

}  // namespace

std::unique_ptr<Judge> MakeDecisionJudge(const Dataset& data, const JudgeOptions& options) {
  return std::make_unique<DecisionJudge>(data, options);
}

std::unique_ptr<Judge> MakeErrorJudge(const Dataset& data, const JudgeOptions& options) {
  return std::make_unique<ErrorJudge>(data, options);
}

}  // namespace cli
}  // namespace topwork
