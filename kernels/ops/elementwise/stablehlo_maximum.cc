// STABLEHLO_MAXIMUM: the larger of two numbers (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloMaximum;
const OpDef kOpStablehloMaximum = {OpCode::kStablehloMaximum,
                                   "STABLEHLO_MAXIMUM",
                                   0,
                                   1,
                                   nullptr,
                                   PrepareStablehlo<StablehloFn::kMaximum>,
                                   RunStablehlo<StablehloFn::kMaximum>};

}  // namespace topwork
