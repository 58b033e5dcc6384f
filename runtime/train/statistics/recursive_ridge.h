// RecursiveRidge: a ridge head that follows its examples. One that comes, goes or changes its class
// changes the solution in O(m²), m the smaller of the numbers of features and examples, to what
// solving anew without it would give.
//
// It minimises Σ |W·z + b − t|² + λ·|W|², z the features divided by the scales s of Statistics, t
// one-hot, b free. With X the centred features and S the scales:
//   primal  M = XᵀX + λ·S² [dim, dim]; W = M⁻¹·Xᵀ·T            recursive least squares (Plackett 1950)
//   dual    M = Y·S⁻²·Yᵀ + λ·I [n, n], Y = x − a fixed shift   rows are appended and deleted
// The scales follow from the present examples alone, so that what has gone leaves no trace; they are
// rounded so that they seldom change. One that does is one more product, of its feature's unit
// vector or column of Y. All
// numbers are doubles; a residual is measured now and then, and where it says that more than
// kMostDrift was lost, or a step would lose too much, the system is solved anew.
#ifndef TOPWORK_RUNTIME_TRAIN_STATISTICS_RECURSIVE_RIDGE_H_
#define TOPWORK_RUNTIME_TRAIN_STATISTICS_RECURSIVE_RIDGE_H_

#include <vector>

#include "runtime/base/status.h"
#include "runtime/train/statistics/statistics.h"
#include "runtime/train/statistics/symmetric_inverse.h"

namespace topwork {

// The examples of a head; borrowed for a call.
struct RidgeExamples {
  const Statistics* all;     // of all examples
  const Statistics* unkept;  // of those without rows, with their scatter; null where there are none
  const std::vector<std::vector<float>>* rows;  // of the others
  const std::vector<int32_t>* labels;           // of the rows
};

class RecursiveRidge {
 public:
  // Relative to the largest weight of the same class in units of its feature's scale.
  static constexpr double kMostDrift = 1e-10;

  bool is_solved() const { return solved_; }
  double lambda() const { return lambda_; }
  // The last estimate of the weights' error, and how often the system was solved from the examples.
  double drift() const { return drift_; }
  int64_t n_solved() const { return n_solved_; }
  size_t bytes() const;

  // Forgets the solution; the next Solve begins anew.
  void Reset() { solved_ = false; }
  // Solves for `lambda` > 0 unless that has been done. At least one example.
  Status Solve(const RidgeExamples& examples, double lambda);

  // While solved: the example `row` has come as the last of the rows (sign +1), or has gone from
  // place `index` of the rows (−1; index −1: it had no place there). `examples` are those after the
  // change.
  void Change(const RidgeExamples& examples, const float* row, int32_t label, int64_t index,
              int sign);
  // The example `row` has become one of class `to`.
  void Relabel(const RidgeExamples& examples, const float* row, int32_t from, int32_t to);

  // There are n classes now: class c has become class becomes[c]. One that became −1 had no examples
  // any more. The solution is linear in the targets, so that the weights of classes that have become
  // one add up.
  void MoveClasses(const std::vector<int32_t>& becomes, size_t n);

  // While solved: [n_classes, dim] and [n_classes], for features as they are.
  void Head(const RidgeExamples& examples, std::vector<double>* weights, std::vector<double>* bias);

 private:
  bool WantsDual(const RidgeExamples& examples) const;
  bool SolvePrimal(const RidgeExamples& examples);
  bool SolveDual(const RidgeExamples& examples);
  bool ChangePrimal(const RidgeExamples& examples, const float* row, int32_t label, int sign);
  bool ChangeDual(const RidgeExamples& examples, const float* row, int64_t index, int sign);
  bool UpdateScales(const RidgeExamples& examples);
  bool Rescale(const RidgeExamples& examples, int64_t feature, double before, double after);
  void DualSolution(const RidgeExamples& examples, std::vector<double>* solution,
                    std::vector<double>* bias) const;
  void Shift(const float* row, double* out) const;
  void ShiftedProducts(const std::vector<std::vector<float>>& rows, const std::vector<double>& v,
                       double* out, int64_t n) const;
  void CheckDrift(const RidgeExamples& examples);
  double PrimalDrift(const RidgeExamples& examples);
  double DualDrift(const RidgeExamples& examples);
  double RelativeSize(const double* error, const double* weights) const;

  bool solved_ = false;
  bool dual_ = false;
  double lambda_ = 0.0;
  double drift_ = 0.0;
  int64_t n_solved_ = 0;
  int n_unchecked_ = 0;  // changes since the last check
  SymmetricInverse inverse_;
  std::vector<double> scales_;   // s²
  std::vector<double> weights_;  // primal: [n_classes, dim]
  std::vector<double> mean_;     // primal: of all examples; dual: the shift
  std::vector<double> v_, q_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_STATISTICS_RECURSIVE_RIDGE_H_
