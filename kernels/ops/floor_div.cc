// FLOOR_DIV: y = ⌊a / b⌋, float32, int32 and int64, with broadcasting. An integer divisor of 0 is
// an error at run time.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorDiv, "FLOOR_DIV");
}

}  // namespace

extern const OpDef kOpFloorDiv;
const OpDef kOpFloorDiv = {OpCode::kFloorDiv, "FLOOR_DIV",         65, 3,
                           nullptr,           PrepareBinaryNumber, Run};

}  // namespace topwork
