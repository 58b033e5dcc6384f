// MAXIMUM: y = a > b ? a : b, float32, int32 and int64, with broadcasting.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kMaximum, "MAXIMUM");
}

}  // namespace

extern const OpDef kOpMaximum;
const OpDef kOpMaximum = {OpCode::kMaximum, "MAXIMUM", 39, 4, nullptr, PrepareBinaryNumber, Run};

}  // namespace topwork
