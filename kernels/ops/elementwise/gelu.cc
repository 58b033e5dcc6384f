// GELU: y = x Φ(x) with the normal distribution Φ, exactly or by the usual tanh formula
// (option `approximate`); float32, int8, uint8 and int16.
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->approximate = options.Bool(0, false);
  return Status::Ok();
}

float Gelu(float x) { return 0.5f * x * std::erfc(-x * 0.70710678f); }

float GeluTanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  const bool approximate = context.params().approximate;
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16},
                        [approximate](float x) { return approximate ? GeluTanh(x) : Gelu(x); });
}

Status Run(const RunContext& context) {
  if (!IsFloat(context.in(0).dtype)) return RunMap<RealMap>(context);
  return RunUnaryFloat(context, context.params->approximate ? UnaryFn::kGeluTanh : UnaryFn::kGelu);
}

}  // namespace

extern const OpDef kOpGelu;
const OpDef kOpGelu = {OpCode::kGelu, "GELU", 116, 3, Parse, Prepare, Run};

}  // namespace topwork
