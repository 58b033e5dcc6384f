// LogisticFitter: a last layer that minimises the loss of the options (softmax, sigmoid, Huber) and
// an L2 penalty, on all of its examples or on some of them.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_

#include <memory>
#include <vector>

#include "runtime/train/auto/head_design.h"
#include "runtime/train/head/dense_head.h"

namespace topwork {

// Minimises Σ_b s_b · loss_b + ½ penalty |W|² by L-BFGS; the bias is not penalised. Parameters are
// those of features as they are: [n_outputs, dim], then [n_outputs].
class LogisticFitter {
 public:
  // `design` must outlive the object; features are scaled as RidgePath does.
  static Result<std::unique_ptr<LogisticFitter>> Create(const TrainingContext& context,
                                                        const HeadDesign* design, Scaling scaling);

  // The mean eigenvalue of the Gram matrix: a penalty of that size is a strong one.
  double mean_square() const { return mean_square_; }
  // The scaled features, [n, dim].
  const std::vector<float>& scaled() const { return scaled_; }

  // From *parameters to the minimum, in place. `left_out`: of `parts` (one for each example) this
  // part's examples do not take part; −1: all examples do.
  Status Fit(double penalty, Span<const int32_t> parts, int32_t left_out,
             std::vector<float>* parameters);
  // Scores of all examples, [n, n_outputs].
  Status Scores(const std::vector<float>& parameters, Span<float> out);
  size_t bytes() const;

 private:
  LogisticFitter(const TrainingContext& context, const HeadDesign* design)
      : context_(context), design_(*design) {}
  void ToScaled(const std::vector<float>& from, std::vector<float>* to) const;
  void FromScaled(const std::vector<float>& from, std::vector<float>* to) const;

  const TrainingContext context_;
  const HeadDesign& design_;
  std::vector<double> scales_, means_;
  double mean_square_ = 1.0;
  std::vector<float> scaled_;  // [n, dim]
  std::unique_ptr<DenseHead> head_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LOGISTIC_H_
