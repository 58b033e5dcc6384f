// HARD_SWISH: y = x * min(max(x + 3, 0), 6) / 6; float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpHardSwish;
const OpDef kOpHardSwish = {
    OpCode::kHardSwish,           "HARD_SWISH", 91, 1, nullptr, PrepareUnaryFloat,
    RunUnary<UnaryFn::kHardSwish>};

}  // namespace topwork
