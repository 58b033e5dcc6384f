// GREATER: y = 1 where a > b, else 0, with broadcasting; numbers.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kGreater); }

}  // namespace

extern const OpDef kOpGreater;
const OpDef kOpGreater = {OpCode::kGreater, "GREATER", 44, 2, nullptr, PrepareCompareOrder, Run};

}  // namespace topwork
