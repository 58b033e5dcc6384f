// LOGISTIC: y = 1 / (1 + e^-x); float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpLogistic;
const OpDef kOpLogistic = {
    OpCode::kLogistic, "LOGISTIC", 0, 3, nullptr, PrepareUnaryFloat, RunUnary<UnaryFn::kLogistic>};

}  // namespace topwork
