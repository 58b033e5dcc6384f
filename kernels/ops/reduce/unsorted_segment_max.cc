// UNSORTED_SEGMENT_MAX: the largest of the rows of each segment; the least number
// where a segment has no rows (see segment.h).
#include "kernels/ops/reduce/segment.h"

namespace topwork {

extern const OpDef kOpUnsortedSegmentMax;
const OpDef kOpUnsortedSegmentMax = {
    OpCode::kUnsortedSegmentMax, "UNSORTED_SEGMENT_MAX",       119, 1, nullptr,
    PrepareUnsortedSegment,      RunSegmentAs<SegmentFn::kMax>};

}  // namespace topwork
