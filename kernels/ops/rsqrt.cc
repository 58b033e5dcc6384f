// RSQRT: y = 1 / √x; float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpRsqrt;
const OpDef kOpRsqrt = {OpCode::kRsqrt,           "RSQRT", 0, 3, nullptr, PrepareUnaryFloat,
                        RunUnary<UnaryFn::kRsqrt>};

}  // namespace topwork
