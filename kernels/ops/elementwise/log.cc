// LOG: y = ln x; float32 (−∞ at 0, NaN below), int8 and int16 (the least number at 0 and below).
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
  const float least = static_cast<float>(quant.lo - quant.out.zero_point) * quant.out.scale;
  SetRealMap(context, quant, [least](float x) { return x <= 0.0f ? least : std::log(x); });
  return Status::Ok();
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kLog);
  return RunMap<RealMap>(context);
}

}  // namespace

extern const OpDef kOpLog;
const OpDef kOpLog = {OpCode::kLog, "LOG", 0, 2, nullptr, Prepare, Run};

}  // namespace topwork
