// LOGICAL_AND: y = a and b, bool, with broadcasting.
#include "kernels/ops/elementwise/logical.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunLogicalBinary(context, LogicalFn::kAnd); }

}  // namespace

extern const OpDef kOpLogicalAnd;
const OpDef kOpLogicalAnd = {
    OpCode::kLogicalAnd, "LOGICAL_AND", 62, 1, nullptr, PrepareLogicalBinary, Run};

}  // namespace topwork
