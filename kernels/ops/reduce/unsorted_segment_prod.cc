// UNSORTED_SEGMENT_PROD: the product of the rows of each segment; 1
// where a segment has no rows (see segment.h).
#include "kernels/ops/reduce/segment.h"

namespace topwork {

extern const OpDef kOpUnsortedSegmentProd;
const OpDef kOpUnsortedSegmentProd = {
    OpCode::kUnsortedSegmentProd, "UNSORTED_SEGMENT_PROD",       118, 1, nullptr,
    PrepareUnsortedSegment,       RunSegmentAs<SegmentFn::kProd>};

}  // namespace topwork
