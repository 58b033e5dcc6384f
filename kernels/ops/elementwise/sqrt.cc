// SQRT: y = √x; float32 (NaN below 0), int8 and int16 (the fraction is cut off; 0 below 0).
#include <algorithm>
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

struct SqrtMap {
  int32_t in_zero, out_zero, lo, hi;
  float in_scale, out_scale;
  int32_t operator()(int32_t q) const {
    const float x = std::max(0.0f, in_scale * static_cast<float>(q - in_zero));
    const float y = std::min(std::sqrt(x) / out_scale, 65536.0f);
    return PlaceInt(static_cast<int32_t>(y), out_zero, lo, hi);
  }
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kInt16}, &quant));
  SqrtMap map;
  map.in_zero = quant.in.zero_point;
  map.out_zero = quant.out.zero_point;
  map.lo = quant.lo;
  map.hi = quant.hi;
  map.in_scale = quant.in.scale;
  map.out_scale = quant.out.scale;
  SetMap(context, quant.dtype, map);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kSqrt);
  return RunMap<SqrtMap>(context);
}

}  // namespace

extern const OpDef kOpSqrt;
const OpDef kOpSqrt = {OpCode::kSqrt, "SQRT", 0, 2, nullptr, Prepare, Run};

}  // namespace topwork
