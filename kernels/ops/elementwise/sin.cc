// SIN: y = sin x; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpSin;
const OpDef kOpSin = {OpCode::kSin,           "SIN", 0, 2, nullptr, PrepareUnaryFloat,
                      RunUnary<UnaryFn::kSin>};

}  // namespace topwork
