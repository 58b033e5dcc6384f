// LESS_EQUAL: y = 1 where a ≤ b, else 0, with broadcasting; numbers.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kLessEqual); }

}  // namespace

extern const OpDef kOpLessEqual;
const OpDef kOpLessEqual = {OpCode::kLessEqual,  "LESS_EQUAL", 46, 2, nullptr,
                            PrepareCompareOrder, Run};

}  // namespace topwork
