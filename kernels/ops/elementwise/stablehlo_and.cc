// STABLEHLO_AND: y = a & b, of booleans and of bits (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloAnd;
const OpDef kOpStablehloAnd = {OpCode::kStablehloAnd,
                               "STABLEHLO_AND",
                               0,
                               1,
                               nullptr,
                               PrepareStablehlo<StablehloFn::kAnd>,
                               RunStablehlo<StablehloFn::kAnd>};

}  // namespace topwork
