// SQRT: y = √x (NaN below 0); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpSqrt;
const OpDef kOpSqrt = {OpCode::kSqrt,           "SQRT", 0, 2, nullptr, PrepareUnaryFloat,
                       RunUnary<UnaryFn::kSqrt>};

}  // namespace topwork
