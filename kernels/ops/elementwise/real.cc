// REAL: the real part of complex numbers (complex64 or complex128).
#include "kernels/ops/elementwise/complex_part.h"

namespace topwork {
namespace {

Status Run(const RunContext& context) {
  return RunComplexPart(context, [](auto re, auto im) {
    static_cast<void>(re);
    static_cast<void>(im);
    return re;
  });
}

}  // namespace

extern const OpDef kOpReal;
const OpDef kOpReal = {OpCode::kReal, "REAL", 0, 1, nullptr, PrepareComplexPart, Run};

}  // namespace topwork
