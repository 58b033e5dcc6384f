// Jackknife+ for ridge regression.
#include "runtime/train/judge/jackknife.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/fit/solvers.h"

namespace topwork {
namespace {

// hᵢ(x) for all i.
std::vector<double> Influences(const std::vector<float>& influence, const float* x, int64_t n,
                               int64_t dim) {
  std::vector<double> h;
  for (int64_t i = 0; i < n; ++i) {
    const float* weights = influence.data() + i * dim;
    double sum = static_cast<double>(influence[static_cast<size_t>(n * dim + i)]);
    for (int64_t d = 0; d < dim; ++d) {
      sum += static_cast<double>(weights[d]) * static_cast<double>(x[d]);
    }
    h.push_back(sum);
  }
  return h;
}

// Rows times factors; the rows themselves without factors.
struct ScaledRows {
  ScaledRows(const float* const* from, int64_t n, int64_t dim, Span<const double> factors)
      : rows(from, from + n) {
    values.resize(factors.empty() ? 0 : static_cast<size_t>(n * dim));
    for (size_t k = 0; k < values.size(); ++k) {
      const size_t i = k / factors.size(), d = k % factors.size();
      values[k] = static_cast<float>(static_cast<double>(from[i][d]) * factors[d]);
      if (d == 0) rows[i] = values.data() + k;
    }
  }
  std::vector<float> values;
  std::vector<const float*> rows;
};

}  // namespace

Result<JackknifePlus> JackknifePlus::Make(const float* const* rows, const float* const* targets,
                                          Span<const float> weights, Span<const double> factors,
                                          int64_t n, int64_t dim, int64_t n_outputs, double l2,
                                          ThreadPool* pool) {
  if (n < 2 || n > kMaxExamples) {
    return InvalidArgument("intervals need 2 to {} examples; there are {}", kMaxExamples, n);
  }
  JackknifePlus it;
  it.n_ = n;
  it.dim_ = dim;
  it.n_outputs_ = n_outputs;
  const size_t size = static_cast<size_t>(n);
  std::vector<float> unit(size * size, 0.0f);
  std::vector<const float*> units;
  for (size_t i = 0; i < size; ++i) {
    unit[i * size + i] = 1.0f;
    units.push_back(unit.data() + i * size);
  }
  it.influence_.resize(size * static_cast<size_t>(dim + 1));
  const ScaledRows scaled(rows, n, dim, factors);
  TW_RETURN_IF_ERROR(SolveRidge(scaled.rows.data(), units.data(), weights, n, dim, n, l2, pool,
                                it.influence_.data(), it.influence_.data() + n * dim));
  // Influences of features as they are.
  for (size_t k = 0; !factors.empty() && k < size * factors.size(); ++k) {
    it.influence_[k] *= static_cast<float>(factors[k % factors.size()]);
  }
  it.targets_.resize(size * static_cast<size_t>(n_outputs));
  it.residuals_.resize(it.targets_.size());
  for (size_t k = 0; k < it.targets_.size(); ++k) {
    it.targets_[k] = static_cast<double>(targets[k % size][k / size]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<double> h = Influences(it.influence_, rows[i], n, dim);
    const double left = 1.0 - h[static_cast<size_t>(i)];
    if (!(left > 1e-5)) {
      return NumericError("example {} determines its own prediction: give a larger L2 penalty", i);
    }
    for (int64_t c = 0; c < n_outputs; ++c) {
      const double* t = it.targets_.data() + c * n;
      double fit = 0.0;
      for (size_t j = 0; j < size; ++j) fit += h[j] * t[j];
      it.residuals_[static_cast<size_t>(c * n + i)] = (t[i] - fit) / left;
    }
  }
  return it;
}

void JackknifePlus::Interval(const float* x, double coverage, float* lower, float* upper) const {
  const std::vector<double> h = Influences(influence_, x, n_, dim_);
  const size_t n = h.size();
  // The number of the upper quantile, from 1; the lower one is its mirror image.
  const size_t rank = static_cast<size_t>(std::ceil(coverage * static_cast<double>(n + 1) - 1e-9));
  for (int64_t c = 0; c < n_outputs_; ++c) {
    const double* t = targets_.data() + c * n_;
    const double* r = residuals_.data() + c * n_;
    double fit = 0.0;
    for (size_t i = 0; i < n; ++i) fit += h[i] * t[i];
    std::vector<double> low, high;
    for (size_t i = 0; i < n; ++i) {
      const double without = fit - h[i] * r[i];
      low.push_back(without - std::fabs(r[i]));
      high.push_back(without + std::fabs(r[i]));
    }
    std::sort(low.begin(), low.end());
    std::sort(high.begin(), high.end());
    lower[c] = rank > n ? -HUGE_VALF : static_cast<float>(low[n - rank]);
    upper[c] = rank > n ? HUGE_VALF : static_cast<float>(high[rank - 1]);
  }
}

}  // namespace topwork
