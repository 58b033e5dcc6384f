// TANH: y = tanh x; float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpTanh;
const OpDef kOpTanh = {OpCode::kTanh,           "TANH", 0, 3, nullptr, PrepareUnaryFloat,
                       RunUnary<UnaryFn::kTanh>};

}  // namespace topwork
