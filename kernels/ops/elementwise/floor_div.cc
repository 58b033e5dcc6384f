// FLOOR_DIV: y = ⌊a / b⌋, float32, int8, int16, int32 and int64 (integers as they
// are, without scales), with broadcasting. An integer divisor of 0 is
// an error at run time.
#include "kernels/ops/elementwise/binary.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareBinaryOf(
      context, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8});
}

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kFloorDiv, "FLOOR_DIV");
}

}  // namespace

extern const OpDef kOpFloorDiv;
const OpDef kOpFloorDiv = {OpCode::kFloorDiv, "FLOOR_DIV", 65, 3, nullptr, Prepare, Run};

}  // namespace topwork
