// MAXIMUM: y = a > b ? a : b, float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Quantized inputs must have the output's scale.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMaximum, "MAXIMUM");
}

}  // namespace

extern const OpDef kOpMaximum;
const OpDef kOpMaximum = {
    OpCode::kMaximum, "MAXIMUM", 39, 4, nullptr, PrepareBinary<BinaryFn::kMaximum>, Run};

}  // namespace topwork
