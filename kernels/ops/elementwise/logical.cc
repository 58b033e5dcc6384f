// LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT (see logical.h).
#include "kernels/ops/elementwise/logical.h"

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/broadcast.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

// LOGICAL_AND and LOGICAL_OR with broadcasting (see logical.h).

Status PrepareLogicalBinary(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kBool}));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, out));
  PlanNest(&context, out, {context.input(0)->shape, context.input(1)->shape},
           &context.NewState<NestState>()->nest);
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

namespace {

// LOGICAL_AND: y = a and b, bool, with broadcasting.

Status RunLogicalAnd(const RunContext& context) {
  return RunLogicalBinary(context, LogicalFn::kAnd);
}

// LOGICAL_OR: y = a or b, bool, with broadcasting.

Status RunLogicalOr(const RunContext& context) { return RunLogicalBinary(context, LogicalFn::kOr); }

// LOGICAL_NOT: y = 1 where x is 0, else 0; bool.

Status PrepareLogicalNot(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, context.input(0)->shape));
  context.AllowInPlace(0, 0);
  return Status::Ok();
}

Status RunLogicalNot(const RunContext& context) {
  const uint8_t* x = context.input_data<uint8_t>(0);
  uint8_t* y = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = x[i] == 0 ? 1 : 0;
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kLogicalAnd)
        .Types({DType::kBool})
        .Options(OptionsType::kLogicalAnd)
        .Cpu(PrepareLogicalBinary, RunLogicalAnd)
        .Gpu(PlanLogicalFn<LogicalFn::kAnd>, GpuTypes::kAny),
    OpDef(OpCode::kLogicalOr)
        .Types({DType::kBool})
        .Options(OptionsType::kLogicalOr)
        .Cpu(PrepareLogicalBinary, RunLogicalOr)
        .Gpu(PlanLogicalFn<LogicalFn::kOr>, GpuTypes::kAny),
    OpDef(OpCode::kLogicalNot)
        .Types({DType::kBool})
        .Options(OptionsType::kLogicalNot)
        .Cpu(PrepareLogicalNot, RunLogicalNot)
        .Gpu(PlanLogicalNot, GpuTypes::kAny),
};

Span<const OpDef> LogicalOps() { return Selected<kOps>(); }

}  // namespace topwork
