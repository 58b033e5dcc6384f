// GREATER_EQUAL: y = 1 where a ≥ b, else 0, with broadcasting; numbers.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kGreaterEqual); }

}  // namespace

extern const OpDef kOpGreaterEqual;
const OpDef kOpGreaterEqual = {
    OpCode::kGreaterEqual, "GREATER_EQUAL", 45, 3, nullptr, PrepareCompareOrder, Run};

}  // namespace topwork
