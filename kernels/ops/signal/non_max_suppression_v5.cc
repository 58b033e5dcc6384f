// NON_MAX_SUPPRESSION_V5: as V4, with scores that sink where boxes overlap (soft suppression), and
// these scores as an output (see non_max_suppression.h).
#include "kernels/ops/signal/non_max_suppression.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) { return PrepareNonMaxSuppression(context, true); }
Status Run(const RunContext& context) { return RunNonMaxSuppression(context, true); }

}  // namespace

extern const OpDef kOpNonMaxSuppressionV5;
const OpDef kOpNonMaxSuppressionV5 = {
    OpCode::kNonMaxSuppressionV5, "NON_MAX_SUPPRESSION_V5", 96, 1, nullptr, Prepare, Run};

}  // namespace topwork
