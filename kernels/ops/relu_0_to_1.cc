// RELU_0_TO_1: y = min(max(x, 0), 1); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpRelu0To1;
const OpDef kOpRelu0To1 = {
    OpCode::kRelu0To1,           "RELU_0_TO_1", 0, 1, nullptr, PrepareUnaryFloat,
    RunUnary<UnaryFn::kRelu0To1>};

}  // namespace topwork
