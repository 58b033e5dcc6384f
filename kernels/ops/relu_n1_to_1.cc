// RELU_N1_TO_1: y = min(max(x, -1), 1); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpReluN1To1;
const OpDef kOpReluN1To1 = {
    OpCode::kReluN1To1,           "RELU_N1_TO_1", 0, 1, nullptr, PrepareUnaryFloat,
    RunUnary<UnaryFn::kReluN1To1>};

}  // namespace topwork
