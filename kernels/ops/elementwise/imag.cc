// IMAG: the imaginary part of complex numbers (complex64 or complex128).
#include "kernels/ops/elementwise/complex_part.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) {
    static_cast<void>(re);
    static_cast<void>(im);
    return im;
  });
}

}  // namespace

extern const OpDef kOpImag;
const OpDef kOpImag = {OpCode::kImag, "IMAG", 0, 1, nullptr, PrepareComplexPart, Run};

}  // namespace topwork
