// POW: y = a to the power of b, float32, int32 and int64, with broadcasting. A negative integer
// exponent is an error at run time.
#include "kernels/ops/elementwise/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kPow, "POW"); }

}  // namespace

extern const OpDef kOpPow;
const OpDef kOpPow = {OpCode::kPow, "POW", 56, 1, nullptr, PrepareBinaryNumber, Run};

}  // namespace topwork
