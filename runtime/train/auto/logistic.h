// LogisticFitter: a last layer that minimises the loss of the options (softmax, sigmoid, Huber) and
// an L2 penalty, on all of its examples or on some of them.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_

#include <memory>
#include <vector>

#include "runtime/train/auto/head_design.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/head/dense_head.h"

namespace topwork {

// Minimises Σ_b s_b · loss_b + ½ penalty |W|² by L-BFGS; the bias is not penalised. Parameters
// are [n_outputs, features], then [n_outputs].
//
// Fewer examples than features: with the Gram matrix of the scaled rows ZZᵀ = LLᵀ, rows of L have the
// same products as those of Z, so that the minimum V for them is that for Z, W = ZᵀL⁻ᵀV.
class LogisticFitter {
 public:
  // `design` must outlive the object; features are scaled as RidgePath does. `gram`: RidgePath::Gram,
  // or empty.
  static Result<std::unique_ptr<LogisticFitter>> Create(const TrainingContext& context,
                                                        const HeadDesign* design, Scaling scaling,
                                                        LowerTriangle gram);

  // The mean eigenvalue of the Gram matrix: a penalty of that size is a strong one.
  double mean_square() const { return mean_square_; }
  // Feature d of example b, scaled.
  float Scaled(int64_t b, int64_t d) const {
    const double value = static_cast<double>(design_.rows[static_cast<size_t>(b)][d]);
    const size_t i = static_cast<size_t>(d);
    return static_cast<float>((value - means_[i]) * scales_[i]);
  }

  // Parameters of features as they are, to those that Fit has, and back.
  Result<std::vector<float>> ToFit(const std::vector<float>& parameters);
  Result<std::vector<float>> FromFit(const std::vector<float>& fitted) const;
  size_t n_fitted() const { return static_cast<size_t>((fit_dim_ + 1) * design_.n_outputs); }
  // From *fitted [n_fitted] to the minimum, in place. `left_out`: of `parts` (one for each example)
  // this part's examples do not take part; −1: all examples do.
  Status Fit(double penalty, Span<const int32_t> parts, int32_t left_out,
             std::vector<float>* fitted, const LbfgsOptions& options = LbfgsOptions());
  // Scores of all examples, [n, n_outputs].
  Status FittedScores(const std::vector<float>& fitted, Span<float> out);
  // The same by parameters of features as they are.
  Status Scores(const std::vector<float>& parameters, Span<float> out);

 private:
  LogisticFitter(const TrainingContext& context, const HeadDesign* design)
      : context_(context), design_(*design) {}
  bool is_reduced() const { return !lower_.empty(); }
  size_t MostBytes() const;
  std::vector<float> ScaledRows(int64_t first, int64_t count) const;
  Status Reduce(Scaling scaling, LowerTriangle gram);
  Status ToReduced(std::vector<float>* parameters);
  Status FromReduced(std::vector<float>* parameters) const;
  void Rescale(const std::vector<float>& from, bool back, std::vector<float>* to) const;

  const TrainingContext context_;
  const HeadDesign& design_;
  std::vector<double> scales_, means_;
  double mean_square_ = 1.0;
  std::vector<float> scaled_;  // [n, dim], unless they are reduced
  int64_t fit_dim_ = 0;
  LowerTriangle lower_;         // L, [n, n]; empty: rows are fitted as they are
  std::vector<float> reduced_;  // the same in float32
  std::unique_ptr<DenseHead> head_, fit_head_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_
