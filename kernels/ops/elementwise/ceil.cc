// CEIL: y = ⌈x⌉; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpCeil;
const OpDef kOpCeil = {OpCode::kCeil,           "CEIL", 0, 1, nullptr, PrepareUnaryFloat,
                       RunUnary<UnaryFn::kCeil>};

}  // namespace topwork
