// SELECT_V2: y = condition ? a : b, all three broadcast to one shape.
#include "kernels/ops/elementwise/select.h"
#include "kernels/ops/shared/broadcast.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckSelect(context));
  Shape out;
  if (IsSingleChoice(context, &out)) return FinishSelect(&context, context.input(0)->shape, out);
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 3, &out));
  return FinishSelect(&context, context.input(0)->shape, out);
}

}  // namespace

extern const OpDef kOpSelectV2;
const OpDef kOpSelectV2 = {OpCode::kSelectV2, "SELECT_V2", 98, 2, nullptr, Prepare, RunSelect};

}  // namespace topwork
