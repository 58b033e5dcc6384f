// Near-duplicates: projections first, then the features themselves.
#include "runtime/train/features/near_duplicates.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/train/features/sign_projection.h"

namespace topwork {
namespace {

constexpr double kCosine = 0.98;
constexpr double kCosineOfProjections = 0.9;
constexpr size_t kMaxHeldBack = 500, kMaxTrained = 4000;

std::vector<int32_t> Sample(Span<const int32_t> indices, size_t most) {
  const size_t n = std::min(indices.size(), most);
  std::vector<int32_t> sample;
  for (size_t k = 0; k < n; ++k) sample.push_back(indices[k * indices.size() / n]);
  return sample;
}

double Cosine(const float* a, const float* b, size_t n) {
  double products = 0.0, squares_a = 0.0, squares_b = 0.0;
  for (size_t k = 0; k < n; ++k) {
    const double x = static_cast<double>(a[k]), y = static_cast<double>(b[k]);
    products += x * y;
    squares_a += x * x;
    squares_b += y * y;
  }
  const double lengths = std::sqrt(squares_a * squares_b);
  return lengths > 0.0 ? products / lengths : 0.0;
}

// Rows minus their mean, and the projections of these.
class Rows {
 public:
  Rows(const FeatureCache& cache, const std::vector<int32_t>& held_back,
       const std::vector<int32_t>& trained)
      : cache_(cache),
        dim_(static_cast<size_t>(cache.dim())),
        mean_(dim_, 0.0f),
        scratch_(cache.scratch_floats()),
        projection_(cache.dim(), 1) {
    std::vector<double> sums(dim_, 0.0);
    for (const std::vector<int32_t>* indices : {&held_back, &trained}) {
      for (int32_t i : *indices) {
        const float* row = cache.row(i, 0, scratch_.data());
        for (size_t d = 0; d < dim_; ++d) sums[d] += static_cast<double>(row[d]);
      }
    }
    const double n = static_cast<double>(held_back.size() + trained.size());
    for (size_t d = 0; d < dim_; ++d) mean_[d] = static_cast<float>(sums[d] / n);
  }

  std::vector<float> Centred(int32_t i) {
    const float* row = cache_.row(i, 0, scratch_.data());
    std::vector<float> centred(dim_);
    for (size_t d = 0; d < dim_; ++d) centred[d] = row[d] - mean_[d];
    return centred;
  }
  std::vector<float> Projected(int32_t i) { return projection_.Project(Centred(i).data(), 1.0); }

 private:
  const FeatureCache& cache_;
  const size_t dim_;
  std::vector<float> mean_, scratch_;
  const SignProjection projection_;
};

}  // namespace

NearDuplicates FindNearDuplicates(const FeatureCache& cache, Span<const int32_t> held_back,
                                  Span<const int32_t> trained) {
  const std::vector<int32_t> probes = Sample(held_back, kMaxHeldBack);
  const std::vector<int32_t> others = Sample(trained, kMaxTrained);
  NearDuplicates result;
  result.n_checked = static_cast<int64_t>(probes.size());
  Rows rows(cache, probes, others);
  std::vector<std::vector<float>> projections;
  for (int32_t j : others) projections.push_back(rows.Projected(j));
  for (int32_t i : probes) {
    const std::vector<float> probe = rows.Projected(i);
    double largest = 0.0;
    for (size_t k = 0; k < others.size(); ++k) {
      if (Cosine(probe.data(), projections[k].data(), probe.size()) < kCosineOfProjections)
        continue;
      const std::vector<float> a = rows.Centred(i), b = rows.Centred(others[k]);
      const double cosine = Cosine(a.data(), b.data(), a.size());
      largest = std::max(largest, cosine);
      if (cosine < kCosine || cosine <= result.cosine) continue;
      result.cosine = cosine;
      result.held_back = i;
      result.trained = others[k];
    }
    result.n_found += largest >= kCosine;
  }
  return result;
}

}  // namespace topwork
