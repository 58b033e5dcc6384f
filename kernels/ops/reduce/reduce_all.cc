// REDUCE_ALL: whether all elements along the axes are true; bool.
#include "kernels/ops/reduce/reduce.h"

namespace topwork {

extern const OpDef kOpReduceAll;
const OpDef kOpReduceAll = {
    OpCode::kReduceAll,         "REDUCE_ALL", 27, 1, ParseReduce, PrepareReduceBool,
    RunReduce<ReduceKind::kAll>};

}  // namespace topwork
