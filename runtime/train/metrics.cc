// Metrics of a classifier, from one row of scores at a time.
#include "runtime/train/metrics.h"

#include <algorithm>
#include <cmath>

namespace topwork {
namespace {

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double CrossEntropy(const float* logits, int n_classes, int label) {
  const double max = static_cast<double>(*std::max_element(logits, logits + n_classes));
  double sum = 0.0;
  for (int c = 0; c < n_classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - max);
  return std::log(sum) + max - static_cast<double>(logits[label]);
}

MetricsCollector::MetricsCollector(int n_classes)
    : n_classes_(n_classes),
      n_of_class_(static_cast<size_t>(n_classes)),
      n_predicted_(static_cast<size_t>(n_classes)),
      n_correct_(static_cast<size_t>(n_classes)) {
  const size_t n = static_cast<size_t>(n_classes);
  if (n_classes <= kMaxConfusionClasses) confusion_.resize(n * n);
}

void MetricsCollector::AddLogits(const float* logits, int label) {
  loss_ += CrossEntropy(logits, n_classes_, label);
  Count(logits, label);
}

void MetricsCollector::AddProbabilities(const float* probabilities, int label) {
  // The smallest normal float keeps a probability of 0 from making the mean infinite.
  loss_ -= std::log(std::max(static_cast<double>(probabilities[label]), 1.17549435e-38));
  Count(probabilities, label);
}

void MetricsCollector::Count(const float* scores, int label) {
  // Rank of the true class: scores above it, and equal ones of a lower index.
  int rank = 0;
  for (int c = 0; c < n_classes_; ++c) {
    if (scores[c] > scores[label] || (scores[c] == scores[label] && c < label)) ++rank;
  }
  const int best = static_cast<int>(std::max_element(scores, scores + n_classes_) - scores);
  ++n_;
  if (best == label) ++n_top1_;
  if (rank < 5) ++n_top5_;
  const size_t row = static_cast<size_t>(label);
  const size_t column = static_cast<size_t>(best);
  ++n_of_class_[row];
  ++n_predicted_[column];
  if (best == label) ++n_correct_[row];
  if (!confusion_.empty()) ++confusion_[row * static_cast<size_t>(n_classes_) + column];
}

Evaluation MetricsCollector::Finish() const {
  Evaluation result;
  result.n_examples = n_;
  result.n_classes = n_classes_;
  result.loss = n_ == 0 ? 0.0 : loss_ / static_cast<double>(n_);
  result.top1 = Ratio(n_top1_, n_);
  result.top5 = Ratio(n_top5_, n_);
  result.confusion = confusion_;
  const size_t n = static_cast<size_t>(n_classes_);
  result.classes.resize(n);
  for (size_t c = 0; c < n; ++c) {
    ClassMetrics& m = result.classes[c];
    m.n_examples = n_of_class_[c];
    m.n_predicted = n_predicted_[c];
    const int64_t correct = n_correct_[c];
    m.precision = Ratio(correct, m.n_predicted);
    m.recall = Ratio(correct, m.n_examples);
    m.f1 = Ratio(2 * correct, m.n_predicted + m.n_examples);
  }
  return result;
}

}  // namespace topwork
