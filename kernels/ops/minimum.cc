// MINIMUM: y = a < b ? a : b, float32, int32 and int64, with broadcasting.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMinimum, "MINIMUM");
}

}  // namespace

extern const OpDef kOpMinimum;
const OpDef kOpMinimum = {OpCode::kMinimum, "MINIMUM", 39, 4, nullptr, PrepareBinaryNumber, Run};

}  // namespace topwork
