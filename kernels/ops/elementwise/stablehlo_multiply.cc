// STABLEHLO_MULTIPLY: y = a b (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloMultiply;
const OpDef kOpStablehloMultiply = {OpCode::kStablehloMultiply,
                                    "STABLEHLO_MULTIPLY",
                                    0,
                                    1,
                                    nullptr,
                                    PrepareStablehlo<StablehloFn::kMultiply>,
                                    RunStablehlo<StablehloFn::kMultiply>};

}  // namespace topwork
