// RELU6: y = min(max(x, 0), 6); float32, int8, uint8 and int16.
#include "kernels/ops/elementwise/relu_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) { return PrepareRelu(context, Activation::kRelu6, true); }

Status Run(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu6); }

}  // namespace

extern const OpDef kOpRelu6;
const OpDef kOpRelu6 = {OpCode::kRelu6, "RELU6", 0, 3, nullptr, Prepare, Run};

}  // namespace topwork
