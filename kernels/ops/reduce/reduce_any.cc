// REDUCE_ANY: whether any element along the axes is true; bool.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpReduceAny;
const OpDef kOpReduceAny = {
    OpCode::kReduceAny,         "REDUCE_ANY", 27, 1, ParseReduce, PrepareReduceBool,
    RunReduce<ReduceKind::kAny>};

}  // namespace topwork
