// COS: y = cos x; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpCos;
const OpDef kOpCos = {OpCode::kCos,           "COS", 84, 2, nullptr, PrepareUnaryFloat,
                      RunUnary<UnaryFn::kCos>};

}  // namespace topwork
