// SUM: the sum of the elements along the axes; float32, int8, uint8, int16, int32 and int64.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpSum;
const OpDef kOpSum = {OpCode::kSum,
                      "SUM",
                      27,
                      2,
                      ParseReduce,
                      PrepareReduce<ReduceKind::kSum>,
                      RunReduce<ReduceKind::kSum>};

}  // namespace topwork
