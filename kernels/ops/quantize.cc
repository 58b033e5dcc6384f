// QUANTIZE: y = round(x / scale) + zero_point, saturated; float32 to int8, uint8 or int16, with one
// scale or one a channel. Halves are rounded away from 0. Quantized inputs are refused.
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/scales.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  const DType to = context.output(0).dtype;
  if (to != DType::kInt8 && to != DType::kUInt8 && to != DType::kInt16) {
    return Unsupported("%s: the output is %s; supported here: int8, uint8, int16",
                       context.Where().c_str(), DTypeName(to));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, to, context.input(0)->shape));
  return CheckScales(context, context.output(0), "output 0");
}

Status Run(const RunContext& context) {
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const TensorView& out = context.out(0);
  const float* x = context.input_data<float>(0);
  ForEachScale(out, context.pool, [&](int64_t at, int64_t n, float scale, int32_t zero_point) {
    if (out.dtype == DType::kInt8) {
      kernels.quantize_i8(x + at, out.as<int8_t>() + at, n, scale, zero_point);
    } else if (out.dtype == DType::kUInt8) {
      kernels.quantize_u8(x + at, out.as<uint8_t>() + at, n, scale, zero_point);
    } else {
      kernels.quantize_i16(x + at, out.as<int16_t>() + at, n, scale, zero_point);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpQuantize;
const OpDef kOpQuantize = {OpCode::kQuantize, "QUANTIZE", 89, 5, nullptr, Prepare, Run};

}  // namespace topwork
