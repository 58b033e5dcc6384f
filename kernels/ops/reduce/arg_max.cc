// ARG_MAX: the position of the largest element along an axis; the first one where several are
// equal.
#include "kernels/ops/reduce/arg_extreme.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunArgExtreme(context, true); }

}  // namespace

extern const OpDef kOpArgMax;
const OpDef kOpArgMax = {OpCode::kArgMax, "ARG_MAX", 40, 3, nullptr, PrepareArgExtreme, Run};

}  // namespace topwork
