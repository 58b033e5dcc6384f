// RidgePath: ridge regression for any number of penalties from one decomposition, with the exact
// predictions for every example of a fit without it, or without its group.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_RIDGE_PATH_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_RIDGE_PATH_H_

#include <vector>

#include "runtime/train/auto/tridiagonal.h"

namespace topwork {

// What is fitted. All of it belongs to the caller and must outlive what is made of it.
struct Design {
  const float* const* rows = nullptr;  // n pointers to dim features
  int64_t n = 0, dim = 0;
  Span<const float> targets;  // [n, n_outputs] row-major; one-hot for classes
  int64_t n_outputs = 0;
  Span<const float> weights;   // [n], all above 0; empty: all 1
  Span<const int32_t> groups;  // [n], −1: the example is a group of its own; empty: all are
  DeviceProducts* products = nullptr;  // as in AddSquare
};

// What a feature is divided by before weights are penalised. The numbers are those of checkpoints.
enum class Scaling : int {
  kNone = 0,      // 1
  kStandard = 1,  // its deviation
  // Its deviation and the median deviation of all that vary, so that those which hardly vary do not
  // become as important as the others (Tusher, Tibshirani and Chu 2001; Tibshirani, Hastie,
  // Narasimhan and Chu 2002, Diagnosis of multiple cancer types by shrunken centroids).
  kShrunken = 2,
};

// What is done to features first: (x − mean) · factor. The factor of a constant feature is 0, but
// 1 with Scaling::kNone.
struct FeatureScale {
  std::vector<double> mean, factor;
  double total_weight = 0.0;
  // NUMERIC where a feature is not finite.
  static Result<FeatureScale> Of(const Design& design, Scaling scaling);
};

// Minimises ½ Σ_b s_b |W x_b + c − t_b|² + ½ lambda |W|²; the bias c is not penalised. Features
// are scaled first (FeatureScale, over all examples): leaving examples out does not change the
// factors, and the penalty is that of the scaled features' weights. The mean is fitted anew with
// every example left out.
//
// The smaller of the dim × dim and the n × n system of the centred features is reduced to
// tridiagonal form once; a penalty then costs O(n · min(n, dim)). Leave-one-out by the diagonal of
// the hat matrix H, f₋ᵢ = tᵢ − (tᵢ − fᵢ) / (1 − Hᵢᵢ), and leave-group-out by its blocks (Allen 1974,
// PRESS; Rifkin and Lippert 2007, Notes on Regularized Least Squares). In the n × n system 1 − H
// comes without a subtraction, so that small penalties keep their digits.
class RidgePath {
 public:
  RidgePath() = default;  // to be assigned to
  // INVALID_ARGUMENT for fewer than two examples, no feature or output, wrong sizes, weights that
  // are not above 0 and finite; NUMERIC where a feature or target is not finite; CANCELLED when
  // `watch` (may be null) says so.
  static Result<RidgePath> Make(const Design& design, Scaling scaling, ThreadPool* pool,
                                WorkWatch* watch, LowerTriangle* out_gram = nullptr);
  // The products of the scaled rows, [n, n]. Make hands them out (out_gram) where examples are fewer
  // than features, and leaves *out_gram empty elsewhere.
  static Result<LowerTriangle> Gram(const Design& design, Scaling scaling, ThreadPool* pool);
  // The same without what leaving examples out needs, in a third of the time: only Solve may be
  // called.
  static Result<RidgePath> MakeToSolve(const Design& design, Scaling scaling, ThreadPool* pool,
                                       WorkWatch* watch, LowerTriangle* out_gram = nullptr);
  // Bytes that a path takes.
  static size_t Bytes(int64_t n, int64_t dim, int64_t n_outputs);

  // `count` ≥ 2 penalties in equal ratios, rising, that reach from nearly no penalty to a head that
  // is nearly constant.
  std::vector<double> Lambdas(int count) const;

  // [n, n_outputs]: what a fit without the example predicts for it. NUMERIC when lambda is too small
  // for the system. Of stride · kSampled examples the first kSampled alone, where it is above 1.
  Status LeaveOneOut(double lambda, Span<double> out, int64_t stride = 1) const;
  static constexpr int64_t kSampled = Tridiagonal::kLanes;
  // Multiplications that LeaveOneOut takes.
  double WorkOfLeaveOneOut() const {
    return static_cast<double>(design_.n * design_.n_outputs) * static_cast<double>(system_.size());
  }
  // The same without all examples of its group. INVALID_ARGUMENT when there are no two groups.
  Status LeaveGroupOut(double lambda, Span<double> out) const;
  // By other groups than the design's, for example the parts of a cross-validation.
  Status LeaveGroupOut(double lambda, Span<const int32_t> groups, Span<double> out) const;
  // [n_outputs, dim] and [n_outputs], for features as they are. NUMERIC when a number does not fit
  // into float32.
  Status Solve(double lambda, Span<float> weights, Span<float> bias) const;
  // Both in one array, weights first.
  Status Solve(double lambda, std::vector<float>* out) const;

 private:
  Status Begin(Scaling scaling);
  Result<TiledMatrix> MakeSystem() const;
  Result<LowerTriangle> WithoutWeights(const TiledMatrix& system) const;
  Status Decompose(WorkWatch* watch, LowerTriangle* out_gram);
  Status RotateRows();
  Status RotateTargets();
  double Original(int64_t b, int64_t c) const {
    return static_cast<double>(design_.targets[static_cast<size_t>(b * design_.n_outputs + c)]);
  }
  double Target(int64_t b, int64_t c) const;  // centred and times √weight
  void FillRow(int64_t b, int64_t first, int64_t n, double* to) const;
  void FillColumn(int64_t d, int64_t first, int64_t n, double* to) const;
  double* Block(int64_t block) const;

  struct Penalised;  // what all examples share at one penalty
  Result<Penalised> Penalise(double lambda) const;
  void Fit(const Penalised& at, int64_t block, std::vector<double>* work, double* fit,
           double* leverage) const;
  void ForEachFit(
      const Penalised& at, int64_t stride,
      FunctionRef<void(int64_t b, double leverage, const double* residuals)> visit) const;
  Status LeaveOut(const Penalised& at, const std::vector<int32_t>& members, Span<double> out) const;

  Design design_;
  ThreadPool* pool_ = nullptr;
  bool dual_ = false;
  std::vector<double> roots_;  // √weight
  FeatureScale scale_;
  std::vector<double> target_mean_;
  Tridiagonal system_;
  Buffer rotated_;             // √weight × row, rotated: [block of lanes][padded size][lanes]
  std::vector<double> right_;  // rotated right-hand sides: [block of outputs][padded size][lanes]
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_RIDGE_PATH_H_
