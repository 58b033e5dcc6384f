// ELU: y = x < 0 ? e^x - 1 : x; float32 and int8.
#include <cmath>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  if (IsFloat(context.input(0)->dtype)) return PrepareUnaryFloat(context);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8},
                        [](float x) { return x < 0.0f ? std::expm1(x) : x; });
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kElu);
  return RunMap<RealMap>(context);
}

}  // namespace

extern const OpDef kOpElu;
const OpDef kOpElu = {OpCode::kElu, "ELU", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
