// Measuring the kernels that a segment's operators could use, before it is planned.
#ifndef TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_
#define TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Measures each variant of each operator in [begin, end) that the device's tuner does not know,
// one at a time, until its time is over; another session goes on where this one stopped. The
// variant that would be used anyhow comes first: what is known is never worse than not measuring.
void TuneSegment(const WorkGraph& graph, size_t begin, size_t end, const Device& device);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_
