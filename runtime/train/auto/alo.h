// Approximate leave-one-out and leave-group-out of softmax and sigmoid heads.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_ALO_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_ALO_H_

#include <vector>

#include "runtime/train/auto/logistic.h"

namespace topwork {

// The approximation is there for softmax and sigmoid losses that are not focal, and for problems for
// which it does not take longer than cross-validation. Never in builds for size (-Os).
bool CanApproximate(const TrainingContext& context, const HeadDesign& design);

// Logits [n, n_outputs] that each example would get from a fit without it, by one Newton step from
// `parameters`, which minimise the fitter's loss for `penalty` (Rad and Maleki 2020, A scalable
// estimate of the out-of-sample prediction error via approximate leave-one-out). The Hessian's
// inverse is that of Rasmussen and Williams 2006, algorithm 3.3, between examples: with K = XXᵀ /
// penalty and W the loss's curvature, M_i is the block of example i (of its group) in (K⁻¹ + W)⁻¹, and
//   s₋ᵢ = sᵢ + M_i (I − W_i M_i)⁻¹ ∇loss(sᵢ)
// CanApproximate holds. NUMERIC where the curvature is lost in rounding.
Status ApproximateLeftOut(const TrainingContext& context, const HeadDesign& design,
                          LogisticFitter* fitter, double penalty,
                          const std::vector<float>& parameters, std::vector<float>* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_ALO_H_
