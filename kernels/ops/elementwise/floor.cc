// FLOOR: y = ⌊x⌋; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpFloor;
const OpDef kOpFloor = {OpCode::kFloor,           "FLOOR", 0, 1, nullptr, PrepareUnaryFloat,
                        RunUnary<UnaryFn::kFloor>};

}  // namespace topwork
