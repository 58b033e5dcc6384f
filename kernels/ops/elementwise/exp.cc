// EXP: y = e^x; float32, int8 and int16.
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kInt16},
                        [](float x) { return std::exp(x); });
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kExp);
  return RunMap<RealMap>(context);
}

}  // namespace

extern const OpDef kOpExp;
const OpDef kOpExp = {OpCode::kExp, "EXP", 33, 2, nullptr, Prepare, Run};

}  // namespace topwork
