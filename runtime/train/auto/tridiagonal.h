// Tridiagonal: a symmetric matrix reduced to tridiagonal form, so that it can be solved with many
// penalties on its diagonal.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_

#include <vector>

#include "runtime/train/fit/products.h"
#include "runtime/train/work_watch.h"

namespace topwork {

// A = Q T Qᵀ by Householder reflections (Golub and Van Loan, Matrix Computations, algorithm 8.3.1).
// Vectors are rotated kLanes at a time, element k of vector l at x[k * kLanes + l].
class Tridiagonal {
 public:
  static constexpr int64_t kLanes = 8;  // as TrainKernels::reflect has them

  // A: size × size in a square TiledMatrix, its elements on and below the diagonal; taken over. With
  // null_vector (size elements), A · null_vector = 0: T's first row and column are then zero, and
  // first() is 1. CANCELLED when `watch` (may be null) says so.
  static Result<Tridiagonal> Reduce(TiledMatrix a, int64_t size, const double* null_vector,
                                    ThreadPool* pool, WorkWatch* watch);

  int64_t size() const { return static_cast<int64_t>(diagonal_.size()); }
  int64_t first() const { return null_reflector_.empty() ? 0 : 1; }
  double trace() const;
  // x ← Qᵀx, x ← Qx.
  void Rotate(double* x) const;
  void RotateBack(double* x) const;

  // T + lambda·I = L D Lᵀ from row first() on, L with ones on its diagonal and `below` under it.
  struct Factors {
    std::vector<double> below, pivots;
  };
  // NUMERIC when it is not positive definite: lambda is too small.
  Result<Factors> Factor(double lambda) const;
  // x ← L⁻¹x, x ← (T + lambda·I)⁻¹x; element 0 becomes 0 where first() is 1.
  void ForwardSolve(const Factors& factors, double* x) const;
  void Solve(const Factors& factors, double* x) const;

 private:
  TiledMatrix reflectors_;  // row k from element k + 1 on
  std::vector<double> betas_;
  std::vector<double> null_reflector_;
  double null_beta_ = 0.0;
  std::vector<double> diagonal_, below_;  // of T
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_
