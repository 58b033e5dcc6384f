// Random signs.
#include "runtime/train/features/sign_projection.h"

namespace topwork {

std::vector<float> SignProjection::Project(const float* row, double scale) const {
  std::vector<double> sums(width_, 0.0);
  for (size_t k = 0; signs_.empty() && k < width_; ++k) sums[k] = static_cast<double>(row[k]);
  for (size_t d = 0; d < signs_.size(); ++d) {
    const double value = static_cast<double>(row[d]);
    for (size_t k = 0; k < width_; ++k) {
      sums[k] += (signs_[d] >> k & 1) != 0 ? value : -value;
    }
  }
  std::vector<float> projected;
  for (double sum : sums) projected.push_back(static_cast<float>(scale * sum));
  return projected;
}

}  // namespace topwork
