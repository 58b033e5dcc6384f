// STABLEHLO_SHIFT_LEFT: y = a << b, 0 where no bit is left (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloShiftLeft;
const OpDef kOpStablehloShiftLeft = {OpCode::kStablehloShiftLeft,
                                     "STABLEHLO_SHIFT_LEFT",
                                     0,
                                     1,
                                     nullptr,
                                     PrepareStablehlo<StablehloFn::kShiftLeft>,
                                     RunStablehlo<StablehloFn::kShiftLeft>};

}  // namespace topwork
