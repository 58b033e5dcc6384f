// RELU: y = max(x, 0); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpRelu;
const OpDef kOpRelu = {OpCode::kRelu,           "RELU", 0, 3, nullptr, PrepareUnaryFloat,
                       RunUnary<UnaryFn::kRelu>};

}  // namespace topwork
