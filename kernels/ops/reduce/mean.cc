// MEAN: the mean of the elements along the axes; float32, int8, uint8, int16, int32 and int64.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpMean;
const OpDef kOpMean = {OpCode::kMean,
                       "MEAN",
                       27,
                       3,
                       ParseReduce,
                       PrepareReduce<ReduceKind::kMean>,
                       RunReduce<ReduceKind::kMean>};

}  // namespace topwork
