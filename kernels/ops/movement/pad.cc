// PAD: zeros (the zero point of quantized values) around the input. See padding.h.
#include "kernels/ops/movement/padding.h"

namespace topwork {

extern const OpDef kOpPad;
const OpDef kOpPad = {OpCode::kPad, "PAD", 22, 6, nullptr, PreparePad, RunPad};

}  // namespace topwork
