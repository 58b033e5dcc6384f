// A ridge head solved anew by Gaussian elimination in long double, from the examples alone, as the
// definition of RecursiveRidge says it.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_STATISTICS_RIDGE_REFERENCE_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_STATISTICS_RIDGE_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/eliminate.h"

namespace topwork {
namespace test {

struct RidgeReference {
  std::vector<double> weights;  // [n_classes, dim]
  std::vector<double> bias;
  std::vector<double> scales;  // s of every feature
};

// The power of 2 nearest to x > 0, by their ratio.
inline long double NearestPower(long double x) {
  const long double root = std::sqrt(2.0L);
  long double power = 1.0L;
  while (x >= root * power) power *= 2.0L;
  while (x * root < power) power /= 2.0L;
  return power;
}

// 1 for features that do not vary.
inline std::vector<double> ScalesOf(const std::vector<long double>& variances) {
  std::vector<long double> deviations, sorted;
  for (const long double variance : variances) {
    deviations.push_back(variance > 0.0L ? std::sqrt(NearestPower(variance)) : 0.0L);
    if (variance > 0.0L) sorted.push_back(deviations.back());
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> scales;
  for (const long double deviation : deviations) {
    const long double shrunken = deviation + (sorted.empty() ? 0.0L : sorted[sorted.size() / 2]);
    const bool varies = deviation > 0.0L;
    scales.push_back(varies ? static_cast<double>(std::sqrt(NearestPower(shrunken * shrunken)))
                            : 1.0);
  }
  return scales;
}

inline RidgeReference SolveRidgeAnew(const std::vector<std::vector<float>>& rows,
                                     const std::vector<int32_t>& labels, size_t n_classes,
                                     double lambda) {
  const size_t n = rows.size();
  const size_t dim = rows[0].size();
  std::vector<long double> mean(dim, 0.0L);
  std::vector<long double> share(n_classes, 0.0L);
  for (size_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < dim; ++d) mean[d] += static_cast<long double>(rows[i][d]);
    share[static_cast<size_t>(labels[i])] += 1.0L / static_cast<long double>(n);
  }
  for (long double& x : mean) x /= static_cast<long double>(n);
  RidgeReference out;
  const size_t width = dim + n_classes;
  std::vector<long double> system(dim * width,
                                  0.0L);  // of a feature: its products, and those with the classes
  for (size_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < dim; ++d) {
      const long double x = static_cast<long double>(rows[i][d]) - mean[d];
      long double* const products = system.data() + d * width;
      for (size_t e = 0; e < dim; ++e) {
        products[e] += x * (static_cast<long double>(rows[i][e]) - mean[e]);
      }
      for (size_t c = 0; c < n_classes; ++c) {
        const long double target = static_cast<size_t>(labels[i]) == c ? 1.0L : 0.0L;
        products[dim + c] += x * (target - share[c]);
      }
    }
  }
  std::vector<long double> variances;
  for (size_t d = 0; d < dim; ++d) {
    variances.push_back(system[d * width + d] / static_cast<long double>(n));
  }
  out.scales = ScalesOf(variances);
  // In units of the scales, so that float64 is enough where long double is no more.
  for (size_t d = 0; d < dim; ++d) {
    const long double scale = static_cast<long double>(out.scales[d]);
    long double* const products = system.data() + d * width;
    for (size_t e = 0; e < dim; ++e) {
      products[e] /= scale * static_cast<long double>(out.scales[e]);
    }
    for (size_t c = dim; c < width; ++c) products[c] /= scale;
    products[d] += static_cast<long double>(lambda);
  }
  Eliminate(system.data(), dim, width);
  for (size_t c = 0; c < n_classes; ++c) {
    long double bias = share[c];
    for (size_t d = 0; d < dim; ++d) {
      const long double weight =
          system[d * width + dim + c] / static_cast<long double>(out.scales[d]);
      out.weights.push_back(static_cast<double>(weight));
      bias -= weight * mean[d];
    }
    out.bias.push_back(static_cast<double>(bias));
  }
  return out;
}

// The largest difference of a weight, over the largest weight, in units of the features' scales.
inline double Difference(const std::vector<double>& weights, const RidgeReference& reference) {
  double most = 0.0;
  double difference = 0.0;
  for (size_t i = 0; i < reference.weights.size(); ++i) {
    const double scale = reference.scales[i % reference.scales.size()];
    most = std::max(most, std::fabs(reference.weights[i]) * scale);
    difference = std::max(difference, std::fabs(weights[i] - reference.weights[i]) * scale);
  }
  return difference / most;
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_STATISTICS_RIDGE_REFERENCE_H_
