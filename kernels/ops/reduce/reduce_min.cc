// REDUCE_MIN: the least element along the axes; float32, int8, uint8, int16, int32 and int64.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpReduceMin;
const OpDef kOpReduceMin = {
    OpCode::kReduceMin,         "REDUCE_MIN", 27, 3, ParseReduce, PrepareReduce<ReduceKind::kMin>,
    RunReduce<ReduceKind::kMin>};

}  // namespace topwork
