// ELU: y = x < 0 ? e^x - 1 : x; float32.
#include "kernels/ops/unary.h"

namespace topwork {

extern const OpDef kOpElu;
const OpDef kOpElu = {OpCode::kElu,           "ELU", 0, 1, nullptr, PrepareUnaryFloat,
                      RunUnary<UnaryFn::kElu>};

}  // namespace topwork
