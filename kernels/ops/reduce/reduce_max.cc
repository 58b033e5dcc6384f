// REDUCE_MAX: the largest element along the axes; float32, int8, uint8, int16, int32 and int64.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpReduceMax;
const OpDef kOpReduceMax = {
    OpCode::kReduceMax,         "REDUCE_MAX", 27, 3, ParseReduce, PrepareReduce<ReduceKind::kMax>,
    RunReduce<ReduceKind::kMax>};

}  // namespace topwork
