// EXP: y = e^x; float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpExp;
const OpDef kOpExp = {OpCode::kExp,           "EXP", 33, 2, nullptr, PrepareUnaryFloat,
                      RunUnary<UnaryFn::kExp>};

}  // namespace topwork
