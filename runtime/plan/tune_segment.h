// Measures the kernels that a segment's operators could use, before the segment is planned.
#ifndef TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_
#define TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_

#include "runtime/plan/work_graph.h"

namespace topwork {

// Measures, one at a time, each variant of each operator in [begin, end) that the device's tuner
// does not know, until the tuner's time is over. Another session goes on where this one stopped.
// The usual variant is measured first, so the choice is never worse than without measuring.
void TuneSegment(const WorkGraph& graph, size_t begin, size_t end, const Device& device);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_TUNE_SEGMENT_H_
