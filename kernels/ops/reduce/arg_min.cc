// ARG_MIN: the position of the least element along an axis; the first one where several are equal.
#include "kernels/ops/reduce/arg_extreme.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) { return RunArgExtreme(context, false); }

}  // namespace

extern const OpDef kOpArgMin;
const OpDef kOpArgMin = {OpCode::kArgMin, "ARG_MIN", 57, 3, nullptr, PrepareArgExtreme, Run};

}  // namespace topwork
