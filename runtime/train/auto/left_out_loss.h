// What scores of left-out examples are worth once they have their best scale.
#ifndef TOPWORK_RUNTIME_TRAIN_AUTO_LEFT_OUT_LOSS_H_
#define TOPWORK_RUNTIME_TRAIN_AUTO_LEFT_OUT_LOSS_H_

#include <vector>

#include "runtime/train/auto/head_design.h"

namespace topwork {

// Tolerances of the scale: to compare penalties, and for figures that are shown.
constexpr double kRoughScale = 1e-3;
constexpr double kExactScale = 1e-6;

struct LeftOutLoss {
  double scale = 1.0;  // that the scores are multiplied by to be logits
  double loss = 0.0;   // mean
};

// Of the design's `members` (empty: all examples), scores [members, n_outputs].
Result<LeftOutLoss> LossOfLeftOut(const TrainingContext& context, const HeadDesign& design,
                                  Span<const int64_t> members, Span<const float> scores,
                                  double tolerance);

struct LeftOutFigures {
  LeftOutLoss mean;
  double accuracy = 0.0;       // sigmoid: share of right outputs; regression: 0
  std::vector<double> losses;  // of every example
};

// Of all examples.
Result<LeftOutFigures> FiguresOfLeftOut(const TrainingContext& context, const HeadDesign& design,
                                        Span<const float> scores);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUTO_LEFT_OUT_LOSS_H_
