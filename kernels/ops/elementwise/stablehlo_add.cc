// STABLEHLO_ADD: y = a + b (see stablehlo_binary.h).
#include "kernels/ops/elementwise/stablehlo_binary.h"

namespace topwork {

extern const OpDef kOpStablehloAdd;
const OpDef kOpStablehloAdd = {OpCode::kStablehloAdd,
                               "STABLEHLO_ADD",
                               0,
                               1,
                               nullptr,
                               PrepareStablehlo<StablehloFn::kAdd>,
                               RunStablehlo<StablehloFn::kAdd>};

}  // namespace topwork
