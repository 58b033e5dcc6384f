// The recursive ridge head: changes, drift, and what is read from it. Solving anew is in
// ridge_solve.cc.
#include "runtime/train/statistics/recursive_ridge.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace topwork {
namespace {

// Changes between two measurements of the residual.
constexpr int kCheckEvery = 16;
// A new scale that divides by less than this may lose more digits than those changes together.
constexpr double kSafePivot = 0.01;

}  // namespace

size_t RecursiveRidge::bytes() const {
  return inverse_.bytes() + (weights_.size() + 4 * mean_.size()) * sizeof(double);
}

// row − mean_.
void RecursiveRidge::Shift(const float* row, double* out) const {
  for (size_t d = 0; d < mean_.size(); ++d) out[d] = static_cast<double>(row[d]) - mean_[d];
}

Status RecursiveRidge::Solve(const RidgeExamples& examples, double lambda) {
  if (solved_ && lambda == lambda_) return Status::Ok();
  lambda_ = lambda;
  dual_ = WantsDual(examples);
  const size_t dim = AsIndex(examples.all->dim());
  scales_.resize(dim);
  mean_.resize(dim);
  examples.all->SquaredScales(scales_.data());
  examples.all->Mean(mean_.data());
  inverse_.Clear();
  solved_ = dual_ ? SolveDual(examples) : SolvePrimal(examples);
  if (!solved_) {
    return NumericError(
        "the ridge system of {} examples is singular in double precision with the penalty {}; give "
        "a larger one",
        examples.all->size(), lambda);
  }
  ++n_solved_;
  n_unchecked_ = 0;
  drift_ = 0.0;
  return Status::Ok();
}

// The smaller system, with room to grow before it is the other one's turn.
bool RecursiveRidge::WantsDual(const RidgeExamples& examples) const {
  const int64_t n = examples.all->size();
  const int64_t dim = examples.all->dim();
  if (examples.unkept != nullptr) return false;
  return solved_ && dual_ ? 4 * n <= 3 * dim : 2 * n <= dim;
}

void RecursiveRidge::Change(const RidgeExamples& examples, const float* row, int32_t label,
                            int64_t index, int sign) {
  if (!solved_) return;
  const int64_t n = examples.all->size();
  const bool stays = dual_ ? WantsDual(examples) : 4 * n > examples.all->dim();
  solved_ =
      n > 1 && stays &&
      (dual_ ? ChangeDual(examples, row, index, sign) : ChangePrimal(examples, row, label, sign));
  if (solved_ && ++n_unchecked_ >= kCheckEvery) CheckDrift(examples);
}

// Recursive least squares around the mean of the other examples: M += β·v·vᵀ, XᵀT += β·v·τᵀ.
bool RecursiveRidge::ChangePrimal(const RidgeExamples& examples, const float* row, int32_t label,
                                  int sign) {
  const Statistics& all = *examples.all;
  const double n = static_cast<double>(all.size());
  const double others = sign > 0 ? n - 1.0 : n;
  if (others < 1.0) return false;
  all.Mean(mean_.data());
  v_.resize(mean_.size());
  q_.resize(mean_.size());
  Shift(row, v_.data());
  if (sign > 0) {
    for (double& v : v_) v *= n / others;  // from the mean of the others, too
  }
  inverse_.Multiply(v_.data(), q_.data());
  double gain = 0.0;
  if (!inverse_.AddProduct(sign * others / (others + 1.0), v_.data(), q_.data(), &gain)) {
    return false;
  }
  weights_.resize(AsIndex(all.n_classes()) * mean_.size());
  for (int64_t c = 0; c < all.n_classes(); ++c) {
    const double own = c == label ? 1.0 : 0.0;
    const double count = static_cast<double>(all.count(c)) - (sign > 0 ? own : 0.0);
    double* weights = weights_.data() + AsIndex(c) * mean_.size();
    const double error = own - count / others - InnerProduct(weights, v_.data(), all.dim());
    AddScaled(gain * error, q_.data(), all.dim(), weights);
  }
  return UpdateScales(examples);
}

bool RecursiveRidge::ChangeDual(const RidgeExamples& examples, const float* row, int64_t index,
                                int sign) {
  if (sign < 0) return inverse_.Remove(index) && UpdateScales(examples);
  if (!UpdateScales(examples)) return false;
  v_.resize(mean_.size());
  Shift(row, v_.data());
  double diagonal = lambda_;
  for (size_t d = 0; d < v_.size(); ++d) {
    const double scaled = v_[d] / scales_[d];
    diagonal += v_[d] * scaled;
    v_[d] = scaled;
  }
  q_.resize(AsIndex(inverse_.size()));
  ShiftedProducts(*examples.rows, v_, q_.data(), inverse_.size());
  return inverse_.Append(q_.data(), diagonal);
}

// out[i] = (rows[i] − mean_) · v.
void RecursiveRidge::ShiftedProducts(const std::vector<std::vector<float>>& rows,
                                     const std::vector<double>& v, double* out, int64_t n) const {
  for (int64_t i = 0; i < n; ++i) {
    const float* row = rows[AsIndex(i)].data();
    double sums[8] = {};
    size_t d = 0;
    for (; d + 8 <= v.size(); d += 8) {
      for (size_t k = 0; k < 8; ++k) {
        sums[k] += (static_cast<double>(row[d + k]) - mean_[d + k]) * v[d + k];
      }
    }
    for (; d < v.size(); ++d) sums[0] += (static_cast<double>(row[d]) - mean_[d]) * v[d];
    out[i] =
        ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }
}

bool RecursiveRidge::UpdateScales(const RidgeExamples& examples) {
  std::vector<double> now(scales_.size());
  examples.all->SquaredScales(now.data());
  int64_t n_changed = 0;
  for (size_t d = 0; d < now.size(); ++d) n_changed += now[d] != scales_[d] ? 1 : 0;
  if (n_changed > inverse_.size() / 4 + 4) return false;  // solving anew is faster
  for (size_t d = 0; d < now.size() && n_changed > 0; ++d) {
    if (now[d] == scales_[d]) continue;
    if (!Rescale(examples, static_cast<int64_t>(d), scales_[d], now[d])) return false;
    scales_[d] = now[d];
  }
  return true;
}

bool RecursiveRidge::Rescale(const RidgeExamples& examples, int64_t feature, double before,
                             double after) {
  const int64_t size = inverse_.size();
  v_.assign(AsIndex(size), 0.0);
  q_.resize(AsIndex(size));
  double gain = 0.0;
  if (dual_) {
    for (int64_t i = 0; i < size; ++i) {
      v_[AsIndex(i)] = static_cast<double>((*examples.rows)[AsIndex(i)][AsIndex(feature)]) -
                       mean_[AsIndex(feature)];
    }
    inverse_.Multiply(v_.data(), q_.data());
  } else {
    v_[AsIndex(feature)] = 1.0;
    inverse_.Column(feature, q_.data());
  }
  const double beta = dual_ ? 1.0 / after - 1.0 / before : lambda_ * (after - before);
  if (!inverse_.AddProduct(beta, v_.data(), q_.data(), &gain)) return false;
  if (beta / gain < kSafePivot) n_unchecked_ = kCheckEvery;
  if (dual_) return true;
  for (size_t at = 0; at < weights_.size(); at += mean_.size()) {
    AddScaled(-gain * weights_[at + AsIndex(feature)], q_.data(), size, weights_.data() + at);
  }
  return true;
}

void RecursiveRidge::Relabel(const RidgeExamples& examples, const float* row, int32_t from,
                             int32_t to) {
  if (!solved_ || dual_) return;
  v_.resize(mean_.size());
  q_.resize(mean_.size());
  Shift(row, v_.data());
  inverse_.Multiply(v_.data(), q_.data());
  weights_.resize(AsIndex(examples.all->n_classes()) * mean_.size());
  const int64_t dim = examples.all->dim();
  AddScaled(-1.0, q_.data(), dim, weights_.data() + from * dim);
  AddScaled(1.0, q_.data(), dim, weights_.data() + to * dim);
  if (++n_unchecked_ >= kCheckEvery) CheckDrift(examples);
}

void RecursiveRidge::MoveClasses(const std::vector<int32_t>& becomes, size_t n) {
  if (!solved_) weights_.clear();
  const size_t dim = mean_.size();
  std::vector<double> weights(weights_.empty() ? 0 : n * dim);
  for (size_t from = 0; from < weights_.size(); ++from) {
    const int32_t to = becomes[from / dim];
    if (to >= 0) weights[AsIndex(to) * dim + from % dim] += weights_[from];
  }
  weights_ = std::move(weights);
}

// The dual variables A = M⁻¹·(T − 1·bᵀ) as [n_classes, n], with 1ᵀ·A = 0.
void RecursiveRidge::DualSolution(const RidgeExamples& examples, std::vector<double>* solution,
                                  std::vector<double>* bias) const {
  const size_t n = AsIndex(inverse_.size());
  const size_t n_classes = AsIndex(examples.all->n_classes());
  const std::vector<int32_t>& labels = *examples.labels;
  solution->assign(n_classes * n, 0.0);
  for (size_t i = 0; i < n; ++i) {
    double* of_label = solution->data() + AsIndex(labels[i]) * n;
    for (size_t j = 0; j < i; ++j) {
      const double p = inverse_.at(static_cast<int64_t>(i), static_cast<int64_t>(j));
      of_label[j] += p;
      (*solution)[AsIndex(labels[j]) * n + i] += p;
    }
    of_label[i] += inverse_.at(static_cast<int64_t>(i), static_cast<int64_t>(i));
  }
  std::vector<double> ones(n, 0.0);
  for (size_t c = 0; c < n_classes; ++c) {
    AddScaled(1.0, solution->data() + c * n, inverse_.size(), ones.data());
  }
  double total = 0.0;
  for (const double one : ones) total += one;
  bias->assign(n_classes, 0.0);
  for (size_t c = 0; c < n_classes; ++c) {
    double* own = solution->data() + c * n;
    for (size_t i = 0; i < n; ++i) (*bias)[c] += own[i];
    (*bias)[c] /= total;
    AddScaled(-(*bias)[c], ones.data(), inverse_.size(), own);
  }
}

void RecursiveRidge::Head(const RidgeExamples& examples, std::vector<double>* weights,
                          std::vector<double>* bias) {
  const size_t dim = mean_.size();
  const size_t n_classes = AsIndex(examples.all->n_classes());
  if (!dual_) {
    weights_.resize(n_classes * dim);
    *weights = weights_;
    bias->resize(n_classes);
    for (size_t c = 0; c < n_classes; ++c) {
      (*bias)[c] = static_cast<double>(examples.all->count(static_cast<int64_t>(c))) /
                   static_cast<double>(examples.all->size());
    }
  } else {
    std::vector<double> solution;
    DualSolution(examples, &solution, bias);
    weights->assign(n_classes * dim, 0.0);
    const size_t n = AsIndex(inverse_.size());
    v_.resize(dim);
    for (size_t i = 0; i < n; ++i) {
      Shift((*examples.rows)[i].data(), v_.data());
      for (size_t c = 0; c < n_classes; ++c) {
        AddScaled(solution[c * n + i], v_.data(), examples.all->dim(), weights->data() + c * dim);
      }
    }
    for (size_t at = 0; at < weights->size(); ++at) (*weights)[at] /= scales_[at % dim];
  }
  for (size_t c = 0; c < n_classes; ++c) {
    (*bias)[c] -= InnerProduct(weights->data() + c * dim, mean_.data(), examples.all->dim());
  }
}

}  // namespace topwork
