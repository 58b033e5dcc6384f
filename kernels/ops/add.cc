// ADD: y = activation(a + b), float32, int32 and int64, with broadcasting.
#include "kernels/ops/binary.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunBinaryNumber(context, BinaryFn::kAdd, "ADD"); }

}  // namespace

extern const OpDef kOpAdd;
const OpDef kOpAdd = {OpCode::kAdd, "ADD", 11, 5, ParseBinaryActivation, PrepareBinaryNumber, Run};

}  // namespace topwork
