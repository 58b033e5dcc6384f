// FLOOR_MOD: y = a - b ⌊a / b⌋ (the divisor's sign), float32, int8, int16, int32 and int64
// (integers as they are, without scales), with broadcasting. An integer divisor of 0 is an error at
// run time.
#include "kernels/ops/elementwise/binary.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareBinaryOf(
      context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8});
}

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorMod, "FLOOR_MOD");
}

}  // namespace

extern const OpDef kOpFloorMod;
const OpDef kOpFloorMod = {OpCode::kFloorMod, "FLOOR_MOD", 72, 2, nullptr, Prepare, Run};

}  // namespace topwork
