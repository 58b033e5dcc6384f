// The RELU family (see relu_quant.h).
#include "kernels/ops/elementwise/relu_quant.h"

namespace topwork {

Status PrepareRelu(PrepareContext& context, Activation activation, bool int16) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  if (int16) {
    TW_RETURN_IF_ERROR(PrepareUnaryQuant(
        context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}, &quant));
  } else {
    TW_RETURN_IF_ERROR(
        PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kUInt8}, &quant));
  }
  RescaleMap map;
  QuantizedRange range;
  TW_RETURN_IF_ERROR(QuantizedActivationRange(context, context.output(0), activation, &range));
  map.lo = range.lo;
  map.hi = range.hi;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  // The quotient is a float's in TFLite.
  map.scale = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status RunRelu(const RunContext& context, UnaryFn fn) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, fn);
  return RunMap<RescaleMap>(context);
}

}  // namespace topwork
