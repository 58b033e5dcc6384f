// NON_MAX_SUPPRESSION_V4: boxes of descending score that overlap none selected before them by more
// than a threshold: their positions and number (see non_max_suppression.h).
#include "kernels/ops/signal/non_max_suppression.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) { return PrepareNonMaxSuppression(context, false); }
Status Run(const RunContext& context) { return RunNonMaxSuppression(context, false); }

}  // namespace

extern const OpDef kOpNonMaxSuppressionV4;
const OpDef kOpNonMaxSuppressionV4 = {
    OpCode::kNonMaxSuppressionV4, "NON_MAX_SUPPRESSION_V4", 95, 1, nullptr, Prepare, Run};

}  // namespace topwork
