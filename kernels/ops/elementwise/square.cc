// SQUARE: y = x²; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpSquare;
const OpDef kOpSquare = {OpCode::kSquare,           "SQUARE", 66, 1, nullptr, PrepareUnaryFloat,
                         RunUnary<UnaryFn::kSquare>};

}  // namespace topwork
