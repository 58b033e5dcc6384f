// MUL: y = activation(a * b), float32, int8, uint8, int16, int32 and int64, with broadcasting.
#include "kernels/ops/binary_quant.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kMul, "MUL"); }

}  // namespace

extern const OpDef kOpMul;
const OpDef kOpMul = {
    OpCode::kMul, "MUL", 21, 7, ParseBinaryActivation, PrepareBinary<BinaryFn::kMul>, Run};

}  // namespace topwork
