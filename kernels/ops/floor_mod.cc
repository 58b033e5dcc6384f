// FLOOR_MOD: y = a - b ⌊a / b⌋ (the divisor's sign), float32, int32 and int64, with broadcasting.
// An integer divisor of 0 is an error at run time.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorMod, "FLOOR_MOD");
}

}  // namespace

extern const OpDef kOpFloorMod;
const OpDef kOpFloorMod = {OpCode::kFloorMod, "FLOOR_MOD",         72, 2,
                           nullptr,           PrepareBinaryNumber, Run};

}  // namespace topwork
