// Metrics, from one row of scores at a time.
#include "runtime/train/judge/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace topwork {

Evaluation::Evaluation() = default;
Evaluation::~Evaluation() = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;
Evaluation::Evaluation(const Evaluation&) = default;
Evaluation& Evaluation::operator=(const Evaluation&) = default;

namespace {

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// log(1 + exp(x)) without overflow.
double SoftPlus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

}  // namespace

double CrossEntropy(const float* logits, int n_classes, int label) {
  const double max = static_cast<double>(*std::max_element(logits, logits + n_classes));
  double sum = 0.0;
  for (int c = 0; c < n_classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - max);
  return std::log(sum) + max - static_cast<double>(logits[label]);
}

void Reliability::Add(double confidence, bool right) {
  const int bin = static_cast<int>(std::ceil(confidence * kReliabilityBins)) - 1;
  const size_t m = static_cast<size_t>(std::min(std::max(bin, 0), kReliabilityBins - 1));
  ++n_[m];
  n_right_[m] += right ? 1 : 0;
  confidence_[m] += confidence;
}

std::vector<ReliabilityBin> Reliability::Bins() const {
  std::vector<ReliabilityBin> bins(kReliabilityBins);
  for (size_t m = 0; m < bins.size(); ++m) {
    bins[m].n_examples = n_[m];
    bins[m].accuracy = Ratio(n_right_[m], n_[m]);
    if (n_[m] > 0) bins[m].confidence = confidence_[m] / static_cast<double>(n_[m]);
  }
  return bins;
}

double Reliability::Error() const {
  double error = 0.0;
  int64_t n = 0;
  for (size_t m = 0; m < kReliabilityBins; ++m) {
    error += std::fabs(static_cast<double>(n_right_[m]) - confidence_[m]);
    n += n_[m];
  }
  return n == 0 ? 0.0 : error / static_cast<double>(n);
}

size_t ConfusionSize(Loss loss, int n_classes) {
  const size_t n = static_cast<size_t>(n_classes);
  return UsesLabels(loss) && n_classes <= kMaxConfusionClasses ? n * n : 0;
}

MetricsCollector::MetricsCollector(int n_classes, int top_k)
    : MetricsCollector(LossOptions(), n_classes, top_k) {}

MetricsCollector::MetricsCollector(const LossOptions& options, int n_outputs, int top_k,
                                   Keeps keeps)
    : kind_(options.loss),
      huber_delta_(options.huber_delta),
      n_classes_(n_outputs),
      top_k_(top_k),
      keeps_(keeps) {
  const size_t n = static_cast<size_t>(n_outputs);
  if (IsRegression(kind_)) {
    errors_.resize(n);
    return;
  }
  n_of_class_.resize(n);
  n_predicted_.resize(n);
  n_correct_.resize(n);
  if (keeps_ == Keeps::kAll) confusion_.resize(ConfusionSize(kind_, n_outputs));
}

MetricsCollector::MetricsCollector(const ScoreMap& map, int top_k)
    : MetricsCollector(LossOptions(), static_cast<int>(map.score_of_class.size()), top_k) {
  has_map_ = true;
  score_of_class_ = map.score_of_class;
  class_of_score_.assign(static_cast<size_t>(map.n_scores), -1);
  for (size_t c = score_of_class_.size(); c-- > 0;) {
    if (score_of_class_[c] < 0) continue;
    class_of_score_[static_cast<size_t>(score_of_class_[c])] = static_cast<int>(c);
  }
  n_elsewhere_.resize(score_of_class_.size());
  n_largest_.resize(class_of_score_.size());
}

int MetricsCollector::ScoreOf(int label) const {
  return has_map_ ? score_of_class_[static_cast<size_t>(label)] : label;
}

double MetricsCollector::AddLogits(const float* logits, int label) {
  const int n = n_scores(), target = ScoreOf(label);
  const int best = static_cast<int>(std::max_element(logits, logits + n) - logits);
  const double loss = target < 0 ? std::nan("") : CrossEntropy(logits, n, target);
  // −log p of the best class is its cross-entropy.
  const double best_loss = best == target ? loss : CrossEntropy(logits, n, best);
  if (target >= 0) loss_ += loss;
  Count(logits, std::exp(-best_loss), label);
  return loss;
}

double MetricsCollector::AddProbabilities(const float* probabilities, int label) {
  const int target = ScoreOf(label);
  const float best = *std::max_element(probabilities, probabilities + n_scores());
  Count(probabilities, static_cast<double>(best), label);
  if (target < 0) return std::nan("");
  const double p = static_cast<double>(probabilities[target]);
  if (p < kSmallestProbability) {
    ++n_zero_;
    return std::numeric_limits<double>::infinity();
  }
  loss_ -= std::log(p);
  return -std::log(p);
}

double MetricsCollector::Add(const float* scores, const Targets& targets, int64_t b) {
  return UsesLabels(kind_) ? AddLogits(scores, targets.labels[b])
                           : AddValues(scores, targets.values[b]);
}

double MetricsCollector::AddValues(const float* scores, const float* targets) {
  return IsRegression(kind_) ? AddErrors(scores, targets) : AddDecisions(scores, targets);
}

void MetricsCollector::Count(const float* scores, double confidence, int label) {
  const int n = n_scores(), target = ScoreOf(label);
  const int best = static_cast<int>(std::max_element(scores, scores + n) - scores);
  const int predicted = has_map_ ? class_of_score_[static_cast<size_t>(best)] : best;
  const size_t row = static_cast<size_t>(label);
  ++n_;
  ++n_of_class_[row];
  reliability_.Add(confidence, best == target);
  if (has_map_) ++n_largest_[static_cast<size_t>(best)];
  if (predicted < 0) {
    ++n_elsewhere_[row];
  } else {
    const size_t column = static_cast<size_t>(predicted);
    ++n_predicted_[column];
    if (!confusion_.empty()) ++confusion_[row * static_cast<size_t>(n_classes_) + column];
  }
  if (best == target) ++n_correct_[row];
  if (target >= 0) {
    CountRank(scores, target);
  } else {
    ++n_without_loss_;
  }
}

// Rank of the true class: scores above it, and equal ones of a lower index.
void MetricsCollector::CountRank(const float* scores, int target) {
  int rank = 0;
  const int n = n_scores();
  for (int c = 0; c < n; ++c) {
    if (scores[c] > scores[target] || (scores[c] == scores[target] && c < target)) ++rank;
  }
  if (rank < 1) ++n_top1_;
  if (rank < 5) ++n_top5_;
  if (rank < top_k_) ++n_top_k_;
}

double MetricsCollector::AddDecisions(const float* logits, const float* targets) {
  const size_t n = static_cast<size_t>(n_classes_);
  double loss = 0.0;
  bool exact = true;
  for (size_t c = 0; c < n; ++c) {
    const double z = static_cast<double>(logits[c]);
    const bool positive = targets[c] >= 0.5f;
    const bool predicted = z >= 0.0;  // probability 0.5
    // z may be −∞, of which 0 times is no number.
    loss += SoftPlus(z) - (targets[c] == 0.0f ? 0.0 : static_cast<double>(targets[c]) * z);
    CountDecision(c, positive, predicted, 1.0 / (1.0 + std::exp(-std::fabs(z))));
    exact = exact && predicted == positive;
  }
  KeepDecisions(logits, targets, exact);
  loss /= static_cast<double>(n);
  loss_ += loss;
  return loss;
}

double MetricsCollector::AddDecisionProbabilities(const float* probabilities, const float* targets,
                                                  double smallest) {
  const size_t n = static_cast<size_t>(n_classes_);
  double loss = 0.0;
  bool exact = true;
  for (size_t c = 0; c < n; ++c) {
    const double p = static_cast<double>(probabilities[c]);
    const double t = static_cast<double>(targets[c]);
    const bool positive = targets[c] >= 0.5f;
    const bool predicted = p >= 0.5;
    if (t != 0.0) loss -= t * std::log(std::max(p, smallest));
    if (t != 1.0) loss -= (1.0 - t) * std::log(std::max(1.0 - p, smallest));
    CountDecision(c, positive, predicted, std::max(p, 1.0 - p));
    exact = exact && predicted == positive;
  }
  KeepDecisions(probabilities, targets, exact);
  loss /= static_cast<double>(n);
  loss_ += loss;
  return loss;
}

void MetricsCollector::CountDecision(size_t output, bool positive, bool predicted,
                                     double confidence) {
  reliability_.Add(confidence, predicted == positive);
  n_of_class_[output] += positive ? 1 : 0;
  n_predicted_[output] += predicted ? 1 : 0;
  n_correct_[output] += positive && predicted ? 1 : 0;
  n_top1_ += predicted == positive ? 1 : 0;
}

// What average precision needs of an example.
void MetricsCollector::KeepDecisions(const float* scores, const float* targets, bool exact) {
  const size_t n = keeps_ == Keeps::kAll ? static_cast<size_t>(n_classes_) : 0;
  for (size_t c = 0; c < n; ++c) kept_positives_.push_back(targets[c] >= 0.5f ? 1 : 0);
  kept_scores_.insert(kept_scores_.end(), scores, scores + n);
  n_exact_ += exact ? 1 : 0;
  ++n_;
}

double MetricsCollector::AddErrors(const float* predictions, const float* targets) {
  ++n_;
  double loss = 0.0;
  const double delta = static_cast<double>(huber_delta_);
  for (size_t c = 0; c < errors_.size(); ++c) {
    const double t = static_cast<double>(targets[c]);
    const double error = std::fabs(static_cast<double>(predictions[c]) - t);
    const double square = error * error;
    const double huber = error <= delta ? 0.5 * square : delta * (error - 0.5 * delta);
    loss += kind_ == Loss::kHuber ? huber : square;
    ErrorSums& sums = errors_[c];
    sums.absolute += error;
    sums.squared += square;
    const double from_old_mean = t - sums.mean;
    sums.mean += from_old_mean / static_cast<double>(n_);
    sums.spread += from_old_mean * (t - sums.mean);
  }
  loss /= static_cast<double>(errors_.size());
  loss_ += loss;
  return loss;
}

void MetricsCollector::CountGroup(int32_t group, double loss) {
  const int64_t n_right = n_top1_ - n_right_before_;
  n_right_before_ = n_top1_;
  if (group < 0) return;
  const auto place = group_index_.emplace(group, static_cast<int64_t>(groups_.size()));
  if (place.second) groups_.push_back({group, 0, 0.0, 0.0});
  GroupMetrics& sums = groups_[static_cast<size_t>(place.first->second)];
  ++sums.n_examples;
  sums.accuracy += static_cast<double>(n_right);
  if (IsRegression(kind_)) sums.loss += loss;
}

void MetricsCollector::FinishGroups(Evaluation* result) const {
  const double n_answers = UsesLabels(kind_) ? 1.0 : static_cast<double>(n_classes_);
  for (const GroupMetrics& sums : groups_) {
    const double n = static_cast<double>(sums.n_examples);
    result->groups.push_back(
        {sums.group, sums.n_examples, sums.accuracy / (n * n_answers), sums.loss / n});
  }
  std::sort(result->groups.begin(), result->groups.end(),
            [](const GroupMetrics& a, const GroupMetrics& b) {
              if (a.accuracy != b.accuracy) return a.accuracy < b.accuracy;
              return a.loss != b.loss ? a.loss > b.loss : a.group < b.group;
            });
}

Evaluation MetricsCollector::Finish(double smallest) const {
  Evaluation result;
  result.kind = kind_;
  result.n_examples = n_;
  result.n_classes = n_classes_;
  const int64_t n_with_loss = n_ - n_without_loss_;
  double loss = loss_;
  if (n_zero_ > 0) loss -= static_cast<double>(n_zero_) * std::log(smallest);
  result.loss = n_with_loss > 0 ? loss / static_cast<double>(n_with_loss)
                : n_ == 0       ? 0.0
                                : std::nan("");
  FinishGroups(&result);
  if (IsRegression(kind_)) {
    FinishErrors(&result);
    return result;
  }
  FinishClasses(&result);
  result.calibration_error = reliability_.Error();
  result.reliability = reliability_.Bins();
  if (UsesLabels(kind_)) {
    result.top1 = Ratio(n_top1_, n_);
    result.top5 = Ratio(n_top5_, n_);
    result.top_k = Ratio(n_top_k_, n_);
    result.k = top_k_;
    result.accuracy = result.top1;
    result.confusion = confusion_;
    result.n_largest = n_largest_;
  } else {
    FinishDecisions(&result);
  }
  return result;
}

void MetricsCollector::FinishClasses(Evaluation* result) const {
  const size_t n = static_cast<size_t>(n_classes_);
  result->classes.resize(n);
  double n_seen = 0.0;
  for (size_t c = 0; c < n; ++c) {
    ClassMetrics& m = result->classes[c];
    m.n_examples = n_of_class_[c];
    m.n_predicted = n_predicted_[c];
    if (has_map_) m.n_elsewhere = n_elsewhere_[c];
    const int64_t correct = n_correct_[c];
    m.precision = Ratio(correct, m.n_predicted);
    m.recall = Ratio(correct, m.n_examples);
    m.f1 = Ratio(2 * correct, m.n_predicted + m.n_examples);
    if (m.n_examples + m.n_predicted > 0) n_seen += 1.0;
    result->macro_precision += m.precision;
    result->macro_recall += m.recall;
    result->macro_f1 += m.f1;
  }
  n_seen = std::max(n_seen, 1.0);
  result->macro_precision /= n_seen;
  result->macro_recall /= n_seen;
  result->macro_f1 /= n_seen;
}

void MetricsCollector::FinishDecisions(Evaluation* result) const {
  result->accuracy = Ratio(n_top1_, n_ * n_classes_);
  result->exact_match = Ratio(n_exact_, n_);
  double sum = 0.0;
  double n_seen = 0.0;
  for (size_t c = 0; c < result->classes.size(); ++c) {
    ClassMetrics& m = result->classes[c];
    if (m.n_examples == 0) continue;
    m.average_precision = AveragePrecision(c);
    sum += m.average_precision;
    n_seen += 1.0;
  }
  result->mean_average_precision = sum / std::max(n_seen, 1.0);
}

double MetricsCollector::AveragePrecision(size_t output) const {
  const size_t n_outputs = static_cast<size_t>(n_classes_);
  std::vector<size_t> order(static_cast<size_t>(n_));
  std::iota(order.begin(), order.end(), size_t{0});
  const auto score = [&](size_t i) { return kept_scores_[i * n_outputs + output]; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) > score(b); });
  double sum = 0.0;
  int64_t n_positive = 0;
  int64_t n_positive_before = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    n_positive += kept_positives_[order[i] * n_outputs + output];
    if (i + 1 < order.size() && score(order[i + 1]) == score(order[i])) continue;
    const double precision = Ratio(n_positive, static_cast<int64_t>(i + 1));
    sum += precision * static_cast<double>(n_positive - n_positive_before);
    n_positive_before = n_positive;
  }
  return sum / static_cast<double>(n_of_class_[output]);
}

void MetricsCollector::FinishErrors(Evaluation* result) const {
  const double n = static_cast<double>(std::max<int64_t>(n_, 1));
  const double n_outputs = static_cast<double>(errors_.size());
  double squared = 0.0;
  for (const ErrorSums& sums : errors_) {
    RegressionMetrics m;
    m.mae = sums.absolute / n;
    m.rmse = std::sqrt(sums.squared / n);
    if (sums.spread > 0.0) {
      m.r2 = 1.0 - sums.squared / sums.spread;
    } else {
      m.r2 = sums.squared == 0.0 && n_ > 0 ? 1.0 : 0.0;
    }
    result->outputs.push_back(m);
    result->regression.mae += m.mae / n_outputs;
    result->regression.r2 += m.r2 / n_outputs;
    squared += sums.squared;
  }
  result->regression.rmse = std::sqrt(squared / (n * n_outputs));
}

}  // namespace topwork
