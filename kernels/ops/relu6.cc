// RELU6: y = min(max(x, 0), 6); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpRelu6;
const OpDef kOpRelu6 = {OpCode::kRelu6,           "RELU6", 0, 3, nullptr, PrepareUnaryFloat,
                        RunUnary<UnaryFn::kRelu6>};

}  // namespace topwork
