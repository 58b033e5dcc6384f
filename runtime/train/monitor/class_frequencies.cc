// EM estimate of class frequencies.
#include "runtime/train/monitor/class_frequencies.h"

#include <algorithm>
#include <cmath>

namespace topwork {
namespace {

// frequencies / trained, 0 where a class was never trained.
std::vector<double> Factors(Span<const double> trained, Span<const double> frequencies) {
  std::vector<double> factors(trained.size(), 0.0);
  for (size_t c = 0; c < trained.size(); ++c) {
    if (trained[c] > 0.0) factors[c] = frequencies[c] / trained[c];
  }
  return factors;
}

double WeightedSum(const float* probabilities, const std::vector<double>& factors) {
  double sum = 0.0;
  for (size_t c = 0; c < factors.size(); ++c) {
    sum += factors[c] * static_cast<double>(probabilities[c]);
  }
  return std::max(sum, 1e-300);
}

}  // namespace

ClassFrequencies EstimateFrequencies(Span<const float> probabilities, Span<const double> trained) {
  const size_t n_classes = trained.size();
  const size_t n = probabilities.size() / n_classes;
  ClassFrequencies result;
  result.frequencies.assign(trained.begin(), trained.end());
  for (double change = 1.0; change > 1e-10 && result.n_iterations < 10000; ++result.n_iterations) {
    const std::vector<double> factors = Factors(trained, result.frequencies);
    std::vector<double> next(n_classes, 0.0);
    for (size_t i = 0; i < n; ++i) {
      const float* row = probabilities.data() + i * n_classes;
      const double sum = WeightedSum(row, factors);
      for (size_t c = 0; c < n_classes; ++c) {
        next[c] += factors[c] * static_cast<double>(row[c]) / sum;
      }
    }
    double total = 0.0;
    for (double value : next) total += value;
    if (total == 0.0) break;  // every example belongs to classes that were never trained
    change = 0.0;
    for (size_t c = 0; c < n_classes; ++c) {
      next[c] /= total;
      change = std::max(change, std::fabs(next[c] - result.frequencies[c]));
    }
    result.frequencies = std::move(next);
  }
  const std::vector<double> before = Factors(trained, trained);
  const std::vector<double> after = Factors(trained, result.frequencies);
  for (size_t i = 0; i < n; ++i) {
    const float* row = probabilities.data() + i * n_classes;
    result.log10_ratio += std::log10(WeightedSum(row, after) / WeightedSum(row, before));
  }
  return result;
}

void CorrectProbabilities(const float* probabilities, Span<const double> trained,
                          Span<const double> frequencies, float* out) {
  const std::vector<double> factors = Factors(trained, frequencies);
  const double sum = WeightedSum(probabilities, factors);
  for (size_t c = 0; c < factors.size(); ++c) {
    out[c] = static_cast<float>(factors[c] * static_cast<double>(probabilities[c]) / sum);
  }
}

}  // namespace topwork
