// COMPLEX_ABS: the absolute value of complex numbers, y = sqrt(re^2 + im^2) without overflow. And
// the checks of REAL and IMAG.
#include "kernels/ops/elementwise/complex_part.h"

namespace topwork {

Status PrepareComplexPart(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kComplex64, DType::kComplex128}));
  const bool single = context.input(0)->dtype == DType::kComplex64;
  return context.SetOutput(0, single ? DType::kFloat32 : DType::kFloat64, context.input(0)->shape);
}

namespace {

Status Run(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) { return std::hypot(re, im); });
}

}  // namespace

extern const OpDef kOpComplexAbs;
const OpDef kOpComplexAbs = {
    OpCode::kComplexAbs, "COMPLEX_ABS", 0, 1, nullptr, PrepareComplexPart, Run};

}  // namespace topwork
