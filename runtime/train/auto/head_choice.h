// HeadChoice: how a head was fitted to all examples at once, in a few numbers.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_CHOICE_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_CHOICE_H_

#include "runtime/train/auto/ridge_path.h"

namespace topwork {

// The numbers are those of checkpoints.
enum class HeadKind : int {
  kNone = 0,
  kImprint = 1,   // normalised means of the classes' normalised features
  kRidge = 2,     // squared errors
  kLogistic = 3,  // the loss of the options
  kBlend = 4,     // the mean of the logits of kRidge and kLogistic
};

struct HeadChoice {
  HeadKind kind = HeadKind::kNone;
  Scaling scaling = Scaling::kNone;
  // λ of ½ Σ_b s_b |error_b|² + ½ λ |W|² for the divided features; kLogistic starts there.
  double penalty = 0.0;
  // What scores are multiplied by to be logits: those of ridge regression and imprinting.
  double scale = 1.0;
  // λ of Σ_b s_b · loss_b + ½ λ |W|², and what these scores are multiplied by.
  double logistic_penalty = 0.0;
  double logistic_scale = 1.0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_HEAD_CHOICE_H_
