// The steps of a TailPlan and their memory; see tail_plan.h.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_SCHEDULE_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_SCHEDULE_H_

#include <vector>

#include "runtime/train/head/tail_plan.h"

namespace topwork {

// Forward steps of all nodes; with `backward` also the loss, what is computed again, and backward
// steps. Segments have about equal sizes of activations. Places are not filled in.
std::vector<TailStep> ListSteps(const TailGraph& graph, bool backward, int n_segments);

// Fills in the places of plan->steps, plan->cut, logits and arena_bytes.
void PlaceSteps(const TailGraph& graph, int64_t n_rows, TailPlan* plan);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_SCHEDULE_H_
