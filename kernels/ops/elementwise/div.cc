// DIV: y = activation(a / b), float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Plain integers are rounded toward zero; an integer divisor of 0 is an error at run time.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kDiv, "DIV"); }

}  // namespace

extern const OpDef kOpDiv;
const OpDef kOpDiv = {
    OpCode::kDiv, "DIV", 29, 2, ParseBinaryActivation, PrepareBinary<BinaryFn::kDiv>, Run};

}  // namespace topwork
