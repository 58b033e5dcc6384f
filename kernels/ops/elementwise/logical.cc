// LOGICAL_AND and LOGICAL_OR with broadcasting (see logical.h).
#include "kernels/ops/elementwise/logical.h"

#include "kernels/ops/shared/broadcast.h"

namespace topwork {

Status PrepareLogicalBinary(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kBool}));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, out));
  context.NewState<NestState>()->nest =
      MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  AllowInPlaceWhereSafe(&context, 0, 2);
  return Status::Ok();
}

Status RunLogicalBinary(const RunContext& context, LogicalFn fn) {
  const uint8_t* a = context.input_data<uint8_t>(0);
  const uint8_t* b = context.input_data<uint8_t>(1);
  uint8_t* y = context.output_data<uint8_t>(0);
  const bool both = fn == LogicalFn::kAnd;
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, a, b, y,
            [both](uint8_t u, uint8_t v) { return both ? u != 0 && v != 0 : u != 0 || v != 0; });
  });
  return Status::Ok();
}

}  // namespace topwork
