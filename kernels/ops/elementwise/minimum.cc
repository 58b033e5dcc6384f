// MINIMUM: y = a < b ? a : b, float32, int8, uint8, int16, int32 and int64, with broadcasting.
// Quantized inputs must have the output's scale.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMinimum, "MINIMUM");
}

}  // namespace

extern const OpDef kOpMinimum;
const OpDef kOpMinimum = {
    OpCode::kMinimum, "MINIMUM", 39, 4, nullptr, PrepareBinary<BinaryFn::kMinimum>, Run};

}  // namespace topwork
