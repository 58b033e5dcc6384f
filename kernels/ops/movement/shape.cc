// SHAPE: the dimensions of the input as a vector; its values are never read.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParseShape(const OptionsView& options, OpParams* params) {
  const int8_t type = options.Byte(0, static_cast<int8_t>(DType::kInt32));
  params->out_dtype = static_cast<DType>(type);
  if (params->out_dtype == DType::kInt32 || params->out_dtype == DType::kInt64) return Status::Ok();
  return InvalidModel("out_type %d is neither int32 (2) nor int64 (4)", type);
}

Status PrepareShape(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  return context.SetOutput(0, context.params().out_dtype, Shape({context.input(0)->shape.rank()}));
}

Status RunShape(const RunContext& context) {
  const Shape& shape = context.in(0).shape;
  for (int d = 0; d < shape.rank(); ++d) {
    if (context.out(0).dtype == DType::kInt64) {
      context.output_data<int64_t>(0)[d] = shape.dim(d);
    } else {
      context.output_data<int32_t>(0)[d] = shape.dim(d);
    }
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpShape;
const OpDef kOpShape = {OpCode::kShape, "SHAPE", 55, 1, ParseShape, PrepareShape, RunShape};

}  // namespace topwork
