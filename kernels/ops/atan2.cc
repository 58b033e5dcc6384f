// ATAN2: y = the angle of the point (b, a), float32, with broadcasting.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryFloat(context, BinaryFn::kAtan2); }

}  // namespace

extern const OpDef kOpAtan2;
const OpDef kOpAtan2 = {OpCode::kAtan2, "ATAN2", 122, 1, nullptr, PrepareBinaryFloat, Run};

}  // namespace topwork
