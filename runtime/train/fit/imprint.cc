// Imprinting: a class's weights from its features alone.
#include <cmath>

#include "runtime/train/fit/solvers.h"

namespace topwork {
namespace {

double Norm(const std::vector<double>& v) {
  double sum = 0.0;
  for (double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace

Status ImprintRow(const float* const* rows, int64_t n, int64_t dim, double norm, float* weights) {
  const size_t size = static_cast<size_t>(dim);
  std::vector<double> mean(size);
  for (int64_t b = 0; b < n; ++b) {
    const std::vector<double> row(rows[b], rows[b] + dim);
    const double length = Norm(row);
    if (!std::isfinite(length)) {
      return NumericError("the features of row {} are not finite; the class has no mean", b);
    }
    if (length == 0.0) continue;
    for (size_t d = 0; d < size; ++d) mean[d] += row[d] / length;
  }
  // Directions that cancel leave rounding errors, not exactly zero.
  const double length = Norm(mean);
  if (!(length > 1e-7 * static_cast<double>(n))) {
    return NumericError(
        "the mean of the class's {} normalised rows is zero: they have no common direction "
        "(train "
        "with another optimizer)",
        n);
  }
  for (size_t d = 0; d < size; ++d) weights[d] = static_cast<float>(norm * mean[d] / length);
  return Status::Ok();
}

}  // namespace topwork
