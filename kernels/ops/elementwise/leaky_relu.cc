// LEAKY_RELU: y = x > 0 ? x : alpha * x; float32, int8, uint8 and int16.
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

struct LeakyMap {
  int32_t in_zero, out_zero, lo, hi;
  FixedFactor identity, slope;
  bool falling;  // alpha is negative
  int32_t operator()(int32_t q) const {
    const int32_t x = q - in_zero;
    const int32_t y = MultiplyByFactor(x, x >= 0 ? identity : slope);
    return PlaceInt(x < 0 && falling ? -y : y, out_zero, lo, hi);
  }
};

Status Parse(const OptionsView& options, OpParams* params) {
  params->alpha = options.Float(0, 0.0f);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(PrepareUnaryQuant(
      context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}, &quant));
  // Float products and quotients, as in TFLite.
  const float slope = quant.in.scale * context.params().alpha / quant.out.scale;
  LeakyMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.identity = MakeFixedFactor(static_cast<double>(quant.in.scale / quant.out.scale));
  map.slope = MakeFixedFactor(static_cast<double>(std::fabs(slope)));
  map.falling = slope < 0.0f;
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (!IsFloat(context.in(0).dtype)) return RunMap<LeakyMap>(context);
  return RunUnaryFloat(context, UnaryFn::kLeakyRelu, context.params->alpha);
}

}  // namespace

extern const OpDef kOpLeakyRelu;
const OpDef kOpLeakyRelu = {OpCode::kLeakyRelu, "LEAKY_RELU", 75, 2, Parse, Prepare, Run};

}  // namespace topwork
