// REDUCE_PROD: the product of the elements along the axes; float32, int32 and int64.
#include "kernels/ops/reduce.h"

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
