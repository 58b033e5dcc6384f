// EQUAL: y = 1 where a = b, else 0, with broadcasting; numbers, bool and strings.
#include "kernels/ops/elementwise/compare.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunCompare(context, CompareFn::kEqual); }

}  // namespace

extern const OpDef kOpEqual;
const OpDef kOpEqual = {OpCode::kEqual, "EQUAL", 53, 5, nullptr, PrepareCompareEqual, Run};

}  // namespace topwork
