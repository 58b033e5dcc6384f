// PADV2: the value in input 2 around the input. See padding.h.
#include "kernels/ops/movement/padding.h"

namespace topwork {

extern const OpDef kOpPadv2;
const OpDef kOpPadv2 = {OpCode::kPadv2, "PADV2", 43, 6, nullptr, PreparePad, RunPad};

}  // namespace topwork
