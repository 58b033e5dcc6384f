// NON_MAX_SUPPRESSION_V4 and V5: greedy selection of boxes by descending score.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_NON_MAX_SUPPRESSION_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_NON_MAX_SUPPRESSION_H_

#include "kernels/contract/kernel.h"

namespace topwork {

// Inputs: boxes [n, 4] (two opposite corners y, x, y, x), scores [n], the largest number of boxes
// (int32), the overlap from which a box is dropped, the score that a box must exceed, and with
// `soft` sigma. Outputs: positions (int32), with `soft` scores, and their number; unused places
// hold 0.
Status PrepareNonMaxSuppression(PrepareContext& context, bool soft);
Status RunNonMaxSuppression(const RunContext& context, bool soft);

// Intersection over union of two boxes (corners y, x, y, x in any order); 0 where one has no area.
float BoxOverlap(const float* a, const float* b);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_NON_MAX_SUPPRESSION_H_
