// RELU: y = max(x, 0); float32, int8, uint8 and int16.
#include "kernels/ops/elementwise/relu_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) { return PrepareRelu(context, Activation::kRelu, true); }

Status Run(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu); }

}  // namespace

extern const OpDef kOpRelu;
const OpDef kOpRelu = {OpCode::kRelu, "RELU", 0, 3, nullptr, Prepare, Run};

}  // namespace topwork
