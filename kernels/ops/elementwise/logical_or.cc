// LOGICAL_OR: y = a or b, bool, with broadcasting.
#include "kernels/ops/elementwise/logical.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunLogicalBinary(context, LogicalFn::kOr); }

}  // namespace

extern const OpDef kOpLogicalOr;
const OpDef kOpLogicalOr = {OpCode::kLogicalOr,   "LOGICAL_OR", 60, 1, nullptr,
                            PrepareLogicalBinary, Run};

}  // namespace topwork
