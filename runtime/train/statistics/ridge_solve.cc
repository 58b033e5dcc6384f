// The recursive ridge head: systems solved from the examples, their and their residuals.
#include <algorithm>
#include <cmath>

#include "runtime/train/statistics/recursive_ridge.h"

namespace topwork {
namespace {

// The probe's combination of the classes.
double Sign(int64_t c) { return c % 2 == 0 ? 1.0 : -1.0; }

// packed += Σ v·vᵀ over four vectors [4][dim].
void AddFourProducts(const double* v, int64_t dim, double* packed) {
  const double* a = v;
  const double* b = v + dim;
  const double* c = v + 2 * dim;
  const double* d = v + 3 * dim;
  for (int64_t i = 0; i < dim; packed += ++i) {
    double* __restrict row = packed;
    const double ai = a[i], bi = b[i], ci = c[i], di = d[i];
    for (int64_t j = 0; j <= i; ++j) {
      row[j] += (ai * a[j] + bi * b[j]) + (ci * c[j] + di * d[j]);
    }
  }
}

}  // namespace

bool RecursiveRidge::SolvePrimal(const RidgeExamples& examples) {
  const int64_t dim = examples.all->dim();
  std::vector<double> system(PackedRow(dim), 0.0);
  if (examples.unkept != nullptr) {
    system = examples.unkept->scatter();
    v_.resize(AsIndex(dim));
    examples.unkept->Mean(v_.data());
    AddScaled(-1.0, mean_.data(), dim, v_.data());
    AddProduct(static_cast<double>(examples.unkept->size()), v_.data(), dim, system.data());
  }
  std::vector<double> four(AsIndex(4 * dim));
  for (size_t first = 0; first < examples.rows->size(); first += 4) {
    for (size_t k = 0; k < 4; ++k) {
      double* to = four.data() + k * AsIndex(dim);
      if (first + k < examples.rows->size()) {
        Shift((*examples.rows)[first + k].data(), to);
      } else {
        std::fill(to, to + dim, 0.0);
      }
    }
    AddFourProducts(four.data(), dim, system.data());
  }
  inverse_.Reserve(dim);
  for (int64_t i = 0; i < dim; ++i) {
    const double* row = system.data() + PackedRow(i);
    if (!inverse_.Append(row, row[i] + lambda_ * scales_[AsIndex(i)])) return false;
  }
  weights_.resize(AsIndex(examples.all->n_classes() * dim));
  v_.resize(AsIndex(dim));
  for (int64_t c = 0; c < examples.all->n_classes(); ++c) {
    examples.all->Right(c, mean_.data(), v_.data());
    inverse_.Multiply(v_.data(), weights_.data() + c * dim);
  }
  return true;
}

bool RecursiveRidge::SolveDual(const RidgeExamples& examples) {
  const int64_t n = static_cast<int64_t>(examples.rows->size());
  inverse_.Reserve(n);
  weights_.clear();
  q_.resize(AsIndex(n));
  v_.resize(mean_.size());
  for (int64_t i = 0; i < n; ++i) {
    Shift((*examples.rows)[AsIndex(i)].data(), v_.data());
    double diagonal = lambda_;
    for (size_t d = 0; d < v_.size(); ++d) {
      const double scaled = v_[d] / scales_[d];
      diagonal += v_[d] * scaled;
      v_[d] = scaled;
    }
    ShiftedProducts(*examples.rows, v_, q_.data(), i);
    if (!inverse_.Append(q_.data(), diagonal)) return false;
  }
  return true;
}

void RecursiveRidge::CheckDrift(const RidgeExamples& examples) {
  drift_ = dual_ ? DualDrift(examples) : PrimalDrift(examples);
  n_unchecked_ = 0;
  if (!(drift_ <= kMostDrift)) solved_ = false;
}

// Largest element of `error` over that of `weights`, both in units of the features' scales.
double RecursiveRidge::RelativeSize(const double* error, const double* weights) const {
  double most_error = 0.0;
  double most = 0.0;
  for (size_t d = 0; d < scales_.size(); ++d) {
    const double scale = std::sqrt(scales_[d]);
    if (!std::isfinite(error[d])) return error[d];
    most_error = std::max(most_error, std::fabs(error[d]) * scale);
    most = std::max(most, std::fabs(weights[d]) * scale);
  }
  return most > 0.0 ? most_error / most : 0.0;
}

// P · (Xᵀt − M·w) for one combination of the classes.
double RecursiveRidge::PrimalDrift(const RidgeExamples& examples) {
  const Statistics& all = *examples.all;
  const int64_t dim = all.dim();
  std::vector<double> w(AsIndex(dim)), residual(AsIndex(dim)), part(AsIndex(dim));
  v_.resize(AsIndex(dim));
  for (int64_t c = 0; c < all.n_classes(); ++c) {
    AddScaled(Sign(c), weights_.data() + c * dim, dim, w.data());
    all.Right(c, mean_.data(), v_.data());
    AddScaled(Sign(c), v_.data(), dim, residual.data());
  }
  for (size_t d = 0; d < w.size(); ++d) residual[d] -= lambda_ * scales_[d] * w[d];
  for (const std::vector<float>& row : *examples.rows) {
    Shift(row.data(), v_.data());
    AddScaled(-InnerProduct(v_.data(), w.data(), dim), v_.data(), dim, residual.data());
  }
  if (examples.unkept != nullptr) {
    MultiplyPacked(examples.unkept->scatter().data(), w.data(), dim, part.data());
    AddScaled(-1.0, part.data(), dim, residual.data());
    examples.unkept->Mean(v_.data());
    AddScaled(-1.0, mean_.data(), dim, v_.data());
    const double n = static_cast<double>(examples.unkept->size());
    AddScaled(-n * InnerProduct(v_.data(), w.data(), dim), v_.data(), dim, residual.data());
  }
  inverse_.Multiply(residual.data(), part.data());
  return RelativeSize(part.data(), w.data());
}

// The same through the dual variables: P · (t − b − Y·w − λ·a).
double RecursiveRidge::DualDrift(const RidgeExamples& examples) {
  const int64_t n = inverse_.size();
  const int64_t dim = examples.all->dim();
  std::vector<double> solution, bias;
  DualSolution(examples, &solution, &bias);
  std::vector<double> a(AsIndex(n)), w(AsIndex(dim)), residual(AsIndex(n)), error(AsIndex(dim));
  double b = 0.0;
  for (int64_t c = 0; c < examples.all->n_classes(); ++c) {
    AddScaled(Sign(c), solution.data() + c * n, n, a.data());
    b += Sign(c) * bias[AsIndex(c)];
  }
  const auto to_weights = [&](const std::vector<double>& dual, std::vector<double>* out) {
    for (int64_t i = 0; i < n; ++i) {
      Shift((*examples.rows)[AsIndex(i)].data(), v_.data());
      AddScaled(dual[AsIndex(i)], v_.data(), dim, out->data());
    }
    for (size_t d = 0; d < out->size(); ++d) (*out)[d] /= scales_[d];
  };
  v_.resize(AsIndex(dim));
  to_weights(a, &w);
  ShiftedProducts(*examples.rows, w, residual.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    residual[AsIndex(i)] =
        Sign((*examples.labels)[AsIndex(i)]) - b - residual[AsIndex(i)] - lambda_ * a[AsIndex(i)];
  }
  inverse_.Multiply(residual.data(), a.data());
  to_weights(a, &error);
  return RelativeSize(error.data(), w.data());
}

}  // namespace topwork
