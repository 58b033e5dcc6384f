// SEGMENT_SUM and the UNSORTED_SEGMENT_* operators: the rows of the data that have the same segment
// number become one row of the output; float32 and int32 (which wraps around).
#ifndef TOPWORK_KERNELS_OPS_REDUCE_SEGMENT_H_
#define TOPWORK_KERNELS_OPS_REDUCE_SEGMENT_H_

#include "kernels/contract/kernel.h"

namespace topwork {

enum class SegmentFn : int { kSum, kProd, kMax, kMin };

// Inputs: data, segment numbers (int32; their shape is the beginning of the data's), number of
// segments (int32). Rows with a negative number are left out; a segment without rows gets the
// neutral element (0, 1, or the type's extreme).
Status PrepareUnsortedSegment(PrepareContext& context);
// Fails on a segment number that is too large.
Status RunSegment(const RunContext& context, SegmentFn fn);

template <SegmentFn kFn>
Status RunSegmentAs(const RunContext& context) {
  return RunSegment(context, kFn);
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_SEGMENT_H_
