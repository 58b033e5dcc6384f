// The matrix is kept whole, so that its rows can be updated and multiplied in one pass and by
// several threads.
#include "runtime/train/auto/tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "kernels/train/train_kernels.h"
#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kRowsPerTask = 32;

const TrainKernels& Kernels() { return TrainKernelsFor(BestCpuKernels()); }

// row −= p·w + q·v.
void Update(double p, const double* w, double q, const double* v, int64_t n, double* row) {
  for (int64_t j = 0; j < n; ++j) row[j] -= p * w[j] + q * v[j];
}

// Makes the reflector that maps x to *out_first · e_0 out of x; I − beta·x·xᵀ, beta returned.
double MakeReflector(int64_t n, double* x, double* out_first) {
  const auto dot = Kernels().dot_doubles;
  const double length = std::sqrt(dot(x, x, n));
  const double tail = n > 1 ? dot(x + 1, x + 1, n - 1) : 0.0;
  *out_first = x[0];
  if (tail == 0.0) {
    std::fill_n(x, n, 0.0);
    return 0.0;
  }
  *out_first = x[0] > 0.0 ? -length : length;
  x[0] -= *out_first;
  return 2.0 / (x[0] * x[0] + tail);
}

void MirrorLower(int64_t n, TiledMatrix* a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) *a->at(j, i) = *a->at(i, j);
  }
}

// The reduction's last reflection, A ← A − v·wᵀ − w·vᵀ, which rows take part in when they are next
// read.
struct Pending {
  std::vector<double> v, w;
};

// Rows from `start` on take the pending update; then `next` (a reflector of beta on the elements
// from `start` on) becomes the pending one.
void Advance(int64_t n, int64_t start, const double* next, double beta, ThreadPool* pool,
             TiledMatrix* a, Pending* pending) {
  const int64_t m = n - start;
  std::vector<double> product(static_cast<size_t>(n), 0.0);
  const double* v = pending->v.data();
  const double* w = pending->w.data();
  const TrainKernels& kernels = Kernels();
  ForEachBlock(pool, NumBlocks(m, kRowsPerTask), 24 * m * m, [&](int64_t task) {
    const int64_t end = std::min(n, start + (task + 1) * kRowsPerTask);
    for (int64_t i = start + task * kRowsPerTask; i < end; ++i) {
      product[static_cast<size_t>(i)] =
          kernels.update_dot(v[i], w + start, w[i], v + start, next, m, a->at(i, start));
    }
  });
  double* y = product.data() + start;
  const double half = 0.5 * beta * beta * kernels.dot_doubles(next, y, m);
  for (int64_t j = 0; j < m; ++j) {
    pending->v[static_cast<size_t>(start + j)] = next[j];
    pending->w[static_cast<size_t>(start + j)] = beta * y[j] - half * next[j];
  }
}

}  // namespace

Result<Tridiagonal> Tridiagonal::Reduce(TiledMatrix a, int64_t size, const double* null_vector,
                                        ThreadPool* pool, WorkWatch* watch) {
  const size_t n = static_cast<size_t>(size);
  Tridiagonal t;
  t.diagonal_.assign(n, 0.0);
  t.below_.assign(n, 0.0);
  t.betas_.assign(n, 0.0);
  MirrorLower(size, &a);
  Pending pending = {std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  if (null_vector != nullptr) {
    double length = 0.0;
    t.null_reflector_.assign(null_vector, null_vector + n);
    t.null_beta_ = MakeReflector(size, t.null_reflector_.data(), &length);
    Advance(size, 0, t.null_reflector_.data(), t.null_beta_, pool, &a, &pending);
  }
  for (int64_t k = t.first(); k < size; ++k) {
    if (watch != nullptr && watch->cancelled()) return Cancelled("training was cancelled");
    const size_t at = static_cast<size_t>(k);
    double* row = a.at(k, k);
    Update(pending.v[at], &pending.w[at], pending.w[at], &pending.v[at], size - k, row);
    t.diagonal_[at] = row[0];
    if (k + 1 == size) break;
    t.betas_[at] = MakeReflector(size - k - 1, row + 1, &t.below_[at]);
    Advance(size, k + 1, row + 1, t.betas_[at], pool, &a, &pending);
  }
  t.reflectors_ = std::move(a);
  return t;
}

double Tridiagonal::trace() const {
  double sum = 0.0;
  for (double d : diagonal_) sum += d;
  return sum;
}

void Tridiagonal::Rotate(double* x) const {
  const auto reflect = Kernels().reflect;
  if (first() == 1) reflect(null_reflector_.data(), null_beta_, size(), x);
  for (int64_t k = first(); k + 1 < size(); ++k) {
    reflect(reflectors_.at(k, k + 1), betas_[static_cast<size_t>(k)], size() - k - 1,
            x + (k + 1) * kLanes);
  }
}

void Tridiagonal::RotateBack(double* x) const {
  const auto reflect = Kernels().reflect;
  for (int64_t k = size() - 2; k >= first(); --k) {
    reflect(reflectors_.at(k, k + 1), betas_[static_cast<size_t>(k)], size() - k - 1,
            x + (k + 1) * kLanes);
  }
  if (first() == 1) reflect(null_reflector_.data(), null_beta_, size(), x);
}

Result<Tridiagonal::Factors> Tridiagonal::Factor(double lambda) const {
  Factors factors;
  factors.below.assign(diagonal_.size(), 0.0);
  factors.pivots.assign(diagonal_.size(), 1.0);
  for (size_t k = static_cast<size_t>(first()); k < diagonal_.size(); ++k) {
    double pivot = diagonal_[k] + lambda;
    if (k > static_cast<size_t>(first())) {
      factors.below[k - 1] = below_[k - 1] / factors.pivots[k - 1];
      pivot -= factors.below[k - 1] * below_[k - 1];
    }
    if (!(pivot > 0.0 && std::isfinite(pivot))) {
      return NumericError("the ridge system of {} unknowns is singular with a penalty of {}",
                          size(), lambda);
    }
    factors.pivots[k] = pivot;
  }
  return factors;
}

void Tridiagonal::ForwardSolve(const Factors& factors, double* x) const {
  if (first() == 1) std::fill_n(x, kLanes, 0.0);
  for (int64_t k = first() + 1; k < size(); ++k) {
    const double below = factors.below[static_cast<size_t>(k - 1)];
    for (int64_t l = 0; l < kLanes; ++l) x[k * kLanes + l] -= below * x[(k - 1) * kLanes + l];
  }
}

void Tridiagonal::Solve(const Factors& factors, double* x) const {
  ForwardSolve(factors, x);
  for (int64_t k = size() - 1; k >= first(); --k) {
    const double below = k + 1 < size() ? factors.below[static_cast<size_t>(k)] : 0.0;
    const double* above = x + std::min(k + 1, size() - 1) * kLanes;
    for (int64_t l = 0; l < kLanes; ++l) {
      double& value = x[k * kLanes + l];
      value = value / factors.pivots[static_cast<size_t>(k)] - below * above[l];
    }
  }
}

}  // namespace topwork
