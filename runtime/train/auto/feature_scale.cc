// Means and factors of features; see FeatureScale in ridge_path.h.
#include <algorithm>
#include <cmath>

#include "runtime/train/auto/ridge_path.h"

namespace topwork {

Result<FeatureScale> FeatureScale::Of(const Design& design, Scaling scaling) {
  const size_t dim = static_cast<size_t>(design.dim);
  FeatureScale scale;
  scale.mean.assign(dim, 0.0);
  scale.factor.assign(dim, scaling == Scaling::kNone ? 1.0 : 0.0);
  const auto weight = [&](int64_t b) {
    return design.weights.empty() ? 1.0
                                  : static_cast<double>(design.weights[static_cast<size_t>(b)]);
  };
  for (int64_t b = 0; b < design.n; ++b) {
    scale.total_weight += weight(b);
    const float* row = design.rows[b];
    for (size_t d = 0; d < dim; ++d) scale.mean[d] += weight(b) * static_cast<double>(row[d]);
  }
  for (double& mean : scale.mean) {
    if (!std::isfinite(mean /= scale.total_weight)) {
      return NumericError("the features are not finite");
    }
  }
  if (scaling == Scaling::kNone) return scale;
  for (int64_t b = 0; b < design.n; ++b) {
    const float* row = design.rows[b];
    for (size_t d = 0; d < dim; ++d) {
      const double centred = static_cast<double>(row[d]) - scale.mean[d];
      scale.factor[d] += weight(b) * centred * centred;
    }
  }
  std::vector<double> deviations;  // of those that vary
  for (size_t d = 0; d < dim; ++d) {
    const double deviation = std::sqrt(scale.factor[d] / scale.total_weight);
    // Below this the deviation is that of the mean's rounding.
    const bool varies = deviation > 1e-12 * std::fabs(scale.mean[d]);
    scale.factor[d] = varies ? deviation : 0.0;
    if (varies) deviations.push_back(deviation);
  }
  double least = 0.0;
  if (scaling == Scaling::kShrunken && !deviations.empty()) {
    const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
    std::nth_element(deviations.begin(), middle, deviations.end());
    least = *middle;
  }
  for (double& factor : scale.factor) factor = factor > 0.0 ? 1.0 / (factor + least) : 0.0;
  return scale;
}

}  // namespace topwork
