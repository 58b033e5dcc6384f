// LOGICAL_NOT: y = 1 where x is 0, else 0; bool.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kBool, context.input(0)->shape));
  context.AllowInPlace(0, 0);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const uint8_t* x = context.input_data<uint8_t>(0);
  uint8_t* y = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = x[i] == 0 ? 1 : 0;
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpLogicalNot;
const OpDef kOpLogicalNot = {OpCode::kLogicalNot, "LOGICAL_NOT", 63, 1, nullptr, Prepare, Run};

}  // namespace topwork
