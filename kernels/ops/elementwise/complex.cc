// REAL, IMAG and COMPLEX_ABS (see complex_part.h).
#include "kernels/ops/elementwise/complex_part.h"

namespace topwork {
namespace {

// REAL: the real part of complex numbers (complex64 or complex128).

Status RunReal(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) {
    static_cast<void>(re);
    static_cast<void>(im);
    return re;
  });
}

// IMAG: the imaginary part of complex numbers (complex64 or complex128).

Status RunImag(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) {
    static_cast<void>(re);
    static_cast<void>(im);
    return im;
  });
}

}  // namespace

// COMPLEX_ABS: the absolute value of complex numbers, y = sqrt(re^2 + im^2) without overflow. And
// the checks of REAL and IMAG.

Status PrepareComplexPart(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kComplex64, DType::kComplex128}));
  const bool single = context.input(0)->dtype == DType::kComplex64;
  return context.SetOutput(0, single ? DType::kFloat32 : DType::kFloat64, context.input(0)->shape);
}

namespace {

Status RunComplexAbs(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) { return std::hypot(re, im); });
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kReal)
        .Types({DType::kComplex64, DType::kComplex128})
        .Cpu(PrepareComplexPart, RunReal),
    OpDef(OpCode::kImag)
        .Types({DType::kComplex64, DType::kComplex128})
        .Cpu(PrepareComplexPart, RunImag),
    OpDef(OpCode::kComplexAbs)
        .Types({DType::kComplex64, DType::kComplex128})
        .Cpu(PrepareComplexPart, RunComplexAbs),
};

Span<const OpDef> ComplexOps() { return Selected<kOps>(); }

}  // namespace topwork
