// REDUCE_PROD: the product of the elements along the axes; float32, int32, int64, int8 and int16;
// uint8 and these two as plain numbers where they have no scale.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpReduceProd;
const OpDef kOpReduceProd = {OpCode::kReduceProd,
                             "REDUCE_PROD",
                             27,
                             2,
                             ParseReduce,
                             PrepareReduce<ReduceKind::kProd>,
                             RunReduce<ReduceKind::kProd>};

}  // namespace topwork
