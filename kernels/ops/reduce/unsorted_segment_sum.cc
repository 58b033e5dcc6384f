// UNSORTED_SEGMENT_SUM: the sum of the rows of each segment; 0
// where a segment has no rows (see segment.h).
#include "kernels/ops/reduce/segment.h"

namespace topwork {

extern const OpDef kOpUnsortedSegmentSum;
const OpDef kOpUnsortedSegmentSum = {
    OpCode::kUnsortedSegmentSum, "UNSORTED_SEGMENT_SUM",       121, 1, nullptr,
    PrepareUnsortedSegment,      RunSegmentAs<SegmentFn::kSum>};

}  // namespace topwork
