// LOG: y = ln x (−∞ at 0, NaN below); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpLog;
const OpDef kOpLog = {OpCode::kLog,           "LOG", 0, 2, nullptr, PrepareUnaryFloat,
                      RunUnary<UnaryFn::kLog>};

}  // namespace topwork
