// NOT_EQUAL: y = 1 where a ≠ b, else 0, with broadcasting; numbers, bool and strings.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kNotEqual); }

}  // namespace

extern const OpDef kOpNotEqual;
const OpDef kOpNotEqual = {OpCode::kNotEqual, "NOT_EQUAL",         54, 4,
                           nullptr,           PrepareCompareEqual, Run};

}  // namespace topwork
