#include "runtime/train/auto/tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/blocks.h"

namespace topwork {
namespace {

const TrainKernels& Kernels() { return TrainKernelsFor(BestCpuKernels()); }

}  // namespace

void Tridiagonal::Apply(size_t panel, bool back, double* x) const {
  const Panel& p = panels_[panel];
  const auto add_products = Kernels().add_products;
  const int64_t n_tiles = static_cast<int64_t>(panels_.size() - panel);
  x += static_cast<int64_t>(panel) * kTile;
  double products[kTile] = {};
  double factors[kTile] = {};
  add_products(p.columns.data(), x, n_tiles * kLanes, kLanes, products);
  // A tile's left operand is read by its columns.
  add_products((back ? p.minus_factor_back : p.minus_factor).data(), products, kLanes, kLanes,
               factors);
  for (int64_t t = 0; t < n_tiles; ++t) {
    add_products(p.rows.data() + t * kTile, factors, kLanes, kLanes, x + t * kTile);
  }
}

void Tridiagonal::Rotate(double* x) const {
  for (size_t p = 0; p < panels_.size(); ++p) Apply(p, false, x);
}

void Tridiagonal::RotateBack(double* x) const {
  for (size_t p = panels_.size(); p-- > 0;) Apply(p, true, x);
}

// Columns of Q, which reflections of later panels leave as they are; then the transpose.
void Tridiagonal::RotateIdentity(ThreadPool* pool, double* x) const {
  const int64_t n_blocks = static_cast<int64_t>(panels_.size());
  const auto tile = [&](int64_t block, int64_t t) { return x + (block * n_blocks + t) * kTile; };
  std::fill_n(x, n_blocks * n_blocks * kTile, 0.0);
  ForEachBlock(pool, n_blocks, 2 * size() * size() * size(), [&](int64_t block) {
    for (int64_t l = 0; l < std::min(kLanes, size() - block * kLanes); ++l) {
      tile(block, block)[l * kLanes + l] = 1.0;
    }
    for (int64_t p = block; p >= 0; --p) Apply(static_cast<size_t>(p), true, tile(block, 0));
  });
  ForEachBlock(pool, n_blocks, 8 * size() * size(), [&](int64_t block) {
    for (int64_t t = 0; t <= block; ++t) {
      double* a = tile(block, t);
      double* b = tile(t, block);
      for (int64_t i = 0; i < kLanes; ++i) {
        for (int64_t j = 0; j < (t == block ? i : kLanes); ++j) {
          std::swap(a[i * kLanes + j], b[j * kLanes + i]);
        }
      }
    }
  });
}

double Tridiagonal::trace() const {
  double sum = 0.0;
  for (double d : diagonal_) sum += d;
  return sum;
}

size_t Tridiagonal::Bytes(int64_t size) {
  const int64_t n_panels = NumBlocks(size, kLanes);
  return static_cast<size_t>(n_panels * (n_panels + 3) * kTile) * sizeof(double);
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
