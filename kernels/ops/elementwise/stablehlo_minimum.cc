// STABLEHLO_MINIMUM: the smaller of two numbers (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloMinimum;
const OpDef kOpStablehloMinimum = {OpCode::kStablehloMinimum,
                                   "STABLEHLO_MINIMUM",
                                   0,
                                   1,
                                   nullptr,
                                   PrepareStablehlo<StablehloFn::kMinimum>,
                                   RunStablehlo<StablehloFn::kMinimum>};

}  // namespace topwork
