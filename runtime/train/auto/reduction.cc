// Householder's reduction. Within a panel every row of A is read once for its reflection; what the
// panel changes behind it is added at its end as a product of matrices. Only elements on and above
// the diagonal are read and changed.
#include <algorithm>
#include <cmath>

#include "runtime/train/auto/tridiagonal.h"
#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kRowsPerTask = 16 * kSymmetricRows;

// Makes the reflector that maps x to *out_first · e_0 out of x; I − beta·x·xᵀ, beta returned.
double MakeReflector(const TrainKernels& kernels, int64_t n, double* x, double* out_first) {
  const double tail = n > 1 ? kernels.dot_doubles(x + 1, x + 1, n - 1) : 0.0;
  *out_first = x[0];
  if (tail == 0.0) {
    std::fill_n(x, n, 0.0);
    return 0.0;
  }
  const double length = std::sqrt(x[0] * x[0] + tail);
  *out_first = x[0] > 0.0 ? -length : length;
  x[0] -= *out_first;
  return 2.0 / (x[0] * x[0] + tail);
}

void MirrorLower(int64_t n, TiledMatrix* a) {
  for (int64_t i0 = 0; i0 < n; i0 += kProductTile) {
    for (int64_t j0 = 0; j0 <= i0; j0 += kProductTile) {
      for (int64_t i = i0; i < std::min(n, i0 + kProductTile); ++i) {
        for (int64_t j = j0; j < std::min(i, j0 + kProductTile); ++j) *a->at(j, i) = *a->at(i, j);
      }
    }
  }
}

}  // namespace

class Tridiagonal::Reduction {
 public:
  Reduction(TiledMatrix* a, int64_t size, ThreadPool* pool)
      : a_(*a),
        size_(size),
        padded_(NumBlocks(size, kLanes) * kLanes),
        pool_(pool),
        kernels_(Kernels()),
        v_(static_cast<size_t>(kLanes * padded_)),
        w_(v_.size()),
        sums_(static_cast<size_t>(NumBlocks(size, kRowsPerTask) * padded_)) {}

  // Reflections of the rows from `start` on into *panel, A behind them changed.
  void Run(int64_t start, const double* null_vector, Tridiagonal* t, Panel* panel) {
    std::fill(v_.begin(), v_.end(), 0.0);
    std::fill(w_.begin(), w_.end(), 0.0);
    std::fill_n(betas_, kLanes, 0.0);
    for (int64_t k = start; k < std::min(size_, start + kLanes); ++k) {
      const int64_t slot = k - start;
      double* v = v_.data() + slot * padded_;
      const bool null = k == 0 && null_vector != nullptr;
      const int64_t from = null ? 0 : k + 1;
      double length = 0.0;
      if (null) {
        std::copy_n(null_vector, size_, v);
      } else {
        double* row = a_.at(k, k);
        Update(slot, k, size_ - k, row);
        t->diagonal_[static_cast<size_t>(k)] = row[0];
        if (from == size_) break;
        std::copy_n(row + 1, size_ - from, v + from);
      }
      betas_[slot] = MakeReflector(kernels_, size_ - from, v + from, &length);
      if (!null) t->below_[static_cast<size_t>(k)] = length;
      Multiply(slot, from);
    }
    Keep(start, panel);
    if (start + kLanes < size_) UpdateBehind(start + kLanes);
  }

 private:
  static const TrainKernels& Kernels() { return TrainKernelsFor(BestCpuKernels()); }
  double* v(int64_t slot, int64_t at) { return v_.data() + slot * padded_ + at; }
  double* w(int64_t slot, int64_t at) { return w_.data() + slot * padded_ + at; }

  // A row's elements from `at` on take the panel's first `count` changes.
  void Update(int64_t count, int64_t at, int64_t n, double* row) {
    for (int64_t i = 0; i < count; ++i) {
      kernels_.update_dot(*v(i, at), w(i, at), *w(i, at), v(i, at), v(i, at), n, row);
    }
  }

  // w = beta·A v − ½ beta² (vᵀA v) v with A as the panel has changed it, of elements from `from` on.
  void Multiply(int64_t slot, int64_t from) {
    const double beta = betas_[slot];
    const int64_t n = size_ - from;
    const double* x = v(slot, from);
    double* y = w(slot, from);
    if (beta == 0.0) return;
    MultiplyUpper(from, x, y);
    for (int64_t i = 0; i < slot; ++i) {
      const double by_v = kernels_.dot_doubles(w(i, from), x, n);
      const double by_w = kernels_.dot_doubles(v(i, from), x, n);
      kernels_.update_dot(by_v, v(i, from), by_w, w(i, from), x, n, y);
    }
    const double half = 0.5 * beta * beta * kernels_.dot_doubles(x, y, n);
    for (int64_t j = 0; j < n; ++j) y[j] = beta * y[j] - half * x[j];
  }

  // y = A x for the square of A from element `from` on; tasks have sums of their own.
  void MultiplyUpper(int64_t from, const double* x, double* y) {
    const int64_t n = size_ - from;
    const int64_t n_tasks = NumBlocks(n, kRowsPerTask);
    ForEachBlock(pool_, n_tasks, 4 * n * n, [&](int64_t task) {
      const int64_t first = task * kRowsPerTask;
      double* sums = sums_.data() + task * padded_;
      std::fill_n(sums + first, n - first, 0.0);
      const int64_t end = std::min(n, first + kRowsPerTask);
      for (int64_t i = first; i < end; i += kSymmetricRows) MultiplyRows(from, n, i, x, sums);
    });
    std::copy_n(sums_.data(), n, y);
    for (int64_t task = 1; task < n_tasks; ++task) {
      const double* sums = sums_.data() + task * padded_;
      for (int64_t j = task * kRowsPerTask; j < n; ++j) y[j] += sums[j];
    }
  }

  // Rows [i, i + kSymmetricRows) of the square and, by symmetry, its columns.
  void MultiplyRows(int64_t from, int64_t n, int64_t i, const double* x, double* sums) {
    const int64_t n_rows = std::min<int64_t>(kSymmetricRows, n - i);
    const int64_t behind = i + n_rows;
    for (int64_t r = i; r < behind; ++r) {
      const double* row = a_.at(from + r, from);
      sums[r] += row[r] * x[r];
      for (int64_t c = r + 1; c < behind; ++c) {
        sums[r] += row[c] * x[c];
        sums[c] += row[c] * x[r];
      }
    }
    if (behind == n) return;
    double dots[kSymmetricRows];
    kernels_.multiply_rows(a_.at(from + i, from + behind), a_.n_columns, n - behind, x + behind,
                           x + i, sums + behind, dots);
    for (int64_t r = 0; r < n_rows; ++r) sums[i + r] += dots[r];
  }

  // V in both of its forms, and the factors F of I − V F Vᵀ = H₀ H₁ …
  void Keep(int64_t start, Panel* panel) {
    const int64_t n = padded_ - start;
    panel->columns.resize(static_cast<size_t>(n * kLanes));
    panel->rows.resize(panel->columns.size());
    for (int64_t slot = 0; slot < kLanes; ++slot) {
      const double* from = v(slot, start);
      for (int64_t k = 0; k < n; ++k) {
        panel->columns[static_cast<size_t>(k * kLanes + slot)] = from[k];
        panel->rows[static_cast<size_t>(k / kLanes * kTile + slot * kLanes + k % kLanes)] = from[k];
      }
    }
    double products[kTile] = {};
    kernels_.add_products(panel->columns.data(), panel->columns.data(), n, kLanes, products);
    panel->minus_factor.assign(kTile, 0.0);
    panel->minus_factor_back.assign(kTile, 0.0);
    double* f = panel->minus_factor.data();
    for (int64_t i = 0; i < kLanes; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        double sum = 0.0;
        for (int64_t k = j; k < i; ++k) sum += f[j * kLanes + k] * products[k * kLanes + i];
        f[j * kLanes + i] = -betas_[i] * sum;
      }
      f[i * kLanes + i] = -betas_[i];
    }
    for (int64_t i = 0; i < kTile; ++i) {
      panel->minus_factor_back[static_cast<size_t>(i)] = f[i % kLanes * kLanes + i / kLanes];
    }
  }

  // A ← A − V Wᵀ − W Vᵀ for the tiles from row `first` on.
  void UpdateBehind(int64_t first) {
    constexpr int64_t kDepth = 2 * kLanes;
    const int64_t n_tiles = (padded_ - first) / kLanes;
    left_.resize(static_cast<size_t>(n_tiles * kDepth * kLanes));
    right_.resize(left_.size());
    for (int64_t t = 0; t < n_tiles; ++t) {
      double* left = left_.data() + t * kDepth * kLanes;
      double* right = right_.data() + t * kDepth * kLanes;
      for (int64_t slot = 0; slot < kLanes; ++slot) {
        const double* from_v = v(slot, first + t * kLanes);
        const double* from_w = w(slot, first + t * kLanes);
        std::copy_n(from_w, kLanes, right + slot * kLanes);
        std::copy_n(from_v, kLanes, right + kTile + slot * kLanes);
        for (int64_t k = 0; k < kLanes; ++k) {
          left[slot * kLanes + k] = -from_v[k];
          left[kTile + slot * kLanes + k] = -from_w[k];
        }
      }
    }
    const int64_t n = n_tiles * kLanes;
    ForEachBlock(pool_, n_tiles, 2 * kDepth * n * n, [&](int64_t i) {
      for (int64_t j = i; j < n_tiles; ++j) {
        kernels_.add_products(left_.data() + i * kDepth * kLanes,
                              right_.data() + j * kDepth * kLanes, kDepth, a_.n_columns,
                              a_.at(first + i * kLanes, first + j * kLanes));
      }
    });
  }

  TiledMatrix& a_;
  const int64_t size_, padded_;
  ThreadPool* const pool_;
  const TrainKernels& kernels_;
  std::vector<double> v_, w_;  // of the panel: [kLanes][padded]
  std::vector<double> sums_;   // [task][padded]
  std::vector<double> left_, right_;
  double betas_[kLanes];
};

Result<Tridiagonal> Tridiagonal::Reduce(TiledMatrix a, int64_t size, const double* null_vector,
                                        ThreadPool* pool, WorkWatch* watch) {
  Tridiagonal t;
  t.diagonal_.assign(static_cast<size_t>(size), 0.0);
  t.below_.assign(static_cast<size_t>(size), 0.0);
  t.has_null_vector_ = null_vector != nullptr;
  t.panels_.resize(static_cast<size_t>(NumBlocks(size, kLanes)));
  MirrorLower(size, &a);
  Reduction reduction(&a, size, pool);
  for (size_t p = 0; p < t.panels_.size(); ++p) {
    if (watch != nullptr && watch->cancelled()) return Cancelled("training was cancelled");
    reduction.Run(static_cast<int64_t>(p) * kLanes, null_vector, &t, &t.panels_[p]);
  }
  return t;
}

}  // namespace topwork
