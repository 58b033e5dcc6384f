// The audit of labels: a grid of scales, and the best share of wrong labels for each.
#include "runtime/train/audit/labels.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/audit/order.h"

namespace topwork {
namespace {

constexpr double kWrongBefore = 3.0, kRightBefore = 57.0;  // the prior's exponents
constexpr double kLeastNoise = 1e-6, kMostNoise = 0.5;
constexpr int kScales = 25;

double LogSoftmax(const float* scores, size_t n, double scale, size_t c) {
  const double largest = static_cast<double>(*std::max_element(scores, scores + n));
  const auto power = [&](size_t k) {
    return std::exp(scale * (static_cast<double>(scores[k]) - largest));
  };
  double sum = 0.0;
  for (size_t k = 0; k < n; ++k) sum += power(k);
  return scale * (static_cast<double>(scores[c]) - largest) - std::log(sum);
}

double ScaledSoftmax(const float* scores, size_t n, double scale, size_t c) {
  return std::exp(LogSoftmax(scores, n, scale, c));
}

// Of every example's label.
std::vector<double> LabelProbabilities(Span<const float> scores, Span<const int32_t> labels,
                                       double scale) {
  const size_t n = scores.size() / labels.size();
  std::vector<double> p(labels.size());
  for (size_t i = 0; i < p.size(); ++i) {
    p[i] = ScaledSoftmax(scores.data() + i * n, n, scale, static_cast<size_t>(labels[i]));
  }
  return p;
}

// `others`: classes beside the label.
double LogPosterior(const std::vector<double>& p, double others, double e) {
  double sum = kWrongBefore * std::log(e) + kRightBefore * std::log1p(-e);
  for (double own : p) sum += std::log((1.0 - e) * own + e / others * (1.0 - own));
  return sum;
}

// The share of the largest LogPosterior, which is concave: its derivative is bisected.
double BestNoise(const std::vector<double>& p, double others) {
  double low = kLeastNoise, high = kMostNoise;
  for (int step = 0; step < 40; ++step) {
    const double e = 0.5 * (low + high);
    double slope = kWrongBefore / e - kRightBefore / (1.0 - e);
    for (double own : p) {
      const double wrong = (1.0 - own) / others;
      slope += (wrong - own) / ((1.0 - e) * own + e * wrong);
    }
    (slope > 0.0 ? low : high) = e;
  }
  return low;
}

void FitNoise(Span<const float> scores, Span<const int32_t> labels, double others,
              LabelAudit* audit) {
  double best = -HUGE_VAL;
  for (int k = 0; k < kScales; ++k) {
    const double scale = 0.5 * std::pow(1.2, k);
    const std::vector<double> p = LabelProbabilities(scores, labels, scale);
    const double e = BestNoise(p, others);
    const double value = LogPosterior(p, others, e);
    if (value <= best) continue;
    best = value;
    audit->scale = scale;
    audit->noise = e;
  }
}

// `n` classes.
AuditedExample AuditOne(const LabelAudit& audit, const float* scores, size_t n, size_t index,
                        int32_t label) {
  AuditedExample example;
  example.index = static_cast<int32_t>(index);
  example.label = label;
  example.suggested = static_cast<int32_t>(std::max_element(scores, scores + n) - scores);
  const size_t own = static_cast<size_t>(label), said = static_cast<size_t>(example.suggested);
  size_t other = own == 0 ? 1 : 0;
  for (size_t k = 0; k < n; ++k) {
    if (k != own && scores[k] > scores[other]) other = k;
  }
  example.margin = static_cast<double>(scores[own]) - static_cast<double>(scores[other]);
  const double p = ScaledSoftmax(scores, n, audit.scale, own);
  const double wrong = audit.noise / static_cast<double>(n - 1);
  const double of_label = (1.0 - audit.noise) * p + wrong * (1.0 - p);
  example.probability = (1.0 - audit.noise) * p / of_label;
  example.is_suspect =
      said != own && wrong * ScaledSoftmax(scores, n, audit.scale, said) > 0.5 * of_label;
  return example;
}

}  // namespace

LabelAudit AuditLabels(Span<const float> scores, Span<const int32_t> labels) {
  LabelAudit audit;
  if (labels.empty()) return audit;
  const size_t n = scores.size() / labels.size();
  FitNoise(scores, labels, static_cast<double>(n - 1), &audit);
  std::vector<AuditedExample> examples(labels.size());
  std::vector<float> keys(labels.size());
  std::vector<int32_t> order(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    examples[i] = AuditOne(audit, scores.data() + i * n, n, i, labels[i]);
    // The order of the probabilities, which many would share by rounding.
    keys[i] = static_cast<float>(
        -LogSoftmax(scores.data() + i * n, n, audit.scale, static_cast<size_t>(labels[i])));
    order[i] = static_cast<int32_t>(i);
  }
  SortByKeys(keys.data(), 1, &order);
  audit.examples = std::vector<AuditedExample>(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    audit.examples[i] = examples[static_cast<size_t>(order[i])];
  }
  return audit;
}

}  // namespace topwork
