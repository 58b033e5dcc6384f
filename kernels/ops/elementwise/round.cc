// ROUND: y = x rounded to the nearest integer, halves to the even one; float32.
#include "kernels/ops/elementwise/unary.h"

namespace topwork {

extern const OpDef kOpRound;
const OpDef kOpRound = {OpCode::kRound,           "ROUND", 0, 1, nullptr, PrepareUnaryFloat,
                        RunUnary<UnaryFn::kRound>};

}  // namespace topwork
