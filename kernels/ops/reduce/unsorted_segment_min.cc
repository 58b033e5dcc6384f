// UNSORTED_SEGMENT_MIN: the least of the rows of each segment; the largest number
// where a segment has no rows (see segment.h).
#include "kernels/ops/reduce/segment.h"

namespace topwork {

extern const OpDef kOpUnsortedSegmentMin;
const OpDef kOpUnsortedSegmentMin = {
    OpCode::kUnsortedSegmentMin, "UNSORTED_SEGMENT_MIN",       120, 1, nullptr,
    PrepareUnsortedSegment,      RunSegmentAs<SegmentFn::kMin>};

}  // namespace topwork
