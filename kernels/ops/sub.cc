// SUB: y = activation(a - b), float32, int32 and int64, with broadcasting.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kSub, "SUB"); }

}  // namespace

extern const OpDef kOpSub;
const OpDef kOpSub = {OpCode::kSub, "SUB", 28, 5, ParseBinaryActivation, PrepareBinaryNumber, Run};

}  // namespace topwork
