// RSQRT: y = 1 / √x; float32, int8 and int16 (the greatest number at 0 and below).
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  UnaryQuant quant;
  TW_RETURN_IF_ERROR(
      PrepareUnaryQuant(context, {DType::kFloat32, DType::kInt8, DType::kInt16}, &quant));
  const float most = static_cast<float>(quant.hi - quant.out.zero_point) * quant.out.scale;
  SetRealMap(context, quant, [most](float x) { return x <= 0.0f ? most : 1.0f / std::sqrt(x); });
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kRsqrt);
  return RunMap<RealMap>(context);
}

}  // namespace

extern const OpDef kOpRsqrt;
const OpDef kOpRsqrt = {OpCode::kRsqrt, "RSQRT", 0, 3, nullptr, Prepare, Run};

}  // namespace topwork
