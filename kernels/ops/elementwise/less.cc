// LESS: y = 1 where a < b, else 0, with broadcasting; numbers.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kLess); }

}  // namespace

extern const OpDef kOpLess;
const OpDef kOpLess = {OpCode::kLess, "LESS", 41, 3, nullptr, PrepareCompareOrder, Run};

}  // namespace topwork
