// Tridiagonal: a symmetric matrix reduced to tridiagonal form, so that it can be solved with many
// penalties on its diagonal.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_

#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/train/fit/products.h"
#include "runtime/train/work_watch.h"

namespace topwork {

// A = Q T Qᵀ by Householder reflections (Golub and Van Loan, Matrix Computations, algorithm 8.3.1), in
// panels of kLanes of them (Dongarra, Sorensen and Hammarling 1989), which are applied as one
// I − V F Vᵀ (Schreiber and Van Loan 1989). Vectors are rotated kLanes at a time, element k of vector l
// at x[k * kLanes + l].
class Tridiagonal {
 public:
  static constexpr int64_t kLanes = kProductTile;

  // A: size × size in a square TiledMatrix, its elements on and below the diagonal; taken over. With
  // null_vector (size elements), A · null_vector = 0: T's first row and column are then zero, and
  // first() is 1. CANCELLED when `watch` (may be null) says so.
  static Result<Tridiagonal> Reduce(TiledMatrix a, int64_t size, const double* null_vector,
                                    ThreadPool* pool, WorkWatch* watch);
  // Bytes that Reduce takes besides A, and leaves.
  static size_t Bytes(int64_t size);

  int64_t size() const { return static_cast<int64_t>(diagonal_.size()); }
  // Elements of a rotated vector: from size() on they are zero.
  int64_t padded() const { return static_cast<int64_t>(panels_.size()) * kLanes; }
  int64_t first() const { return has_null_vector_ ? 1 : 0; }
  double trace() const;
  // x ← Qᵀx, x ← Qx.
  void Rotate(double* x) const;
  void RotateBack(double* x) const;
  // x ← Qᵀ for all of I, in blocks of kLanes vectors: [padded / kLanes][padded][kLanes].
  void RotateIdentity(ThreadPool* pool, double* x) const;

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
  static constexpr int64_t kTile = kLanes * kLanes;  // numbers
  class Reduction;
  // Reflections of the panel's rows of A; V's elements before them are zero.
  struct Panel {
    std::vector<double> columns;  // V [rows from the panel's first on][kLanes]
    std::vector<double> rows;     // the same by tiles, [kLanes rows of V][kLanes]
    std::vector<double> minus_factor, minus_factor_back;  // −F, −Fᵀ: [kLanes, kLanes]
  };
  void Apply(size_t panel, bool back, double* x) const;

  std::vector<Panel> panels_;
  bool has_null_vector_ = false;
  std::vector<double> diagonal_, below_;  // of T
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_TRIDIAGONAL_H_
