// RELU_0_TO_1: y = min(max(x, 0), 1); float32, int8 and uint8.
#include "kernels/ops/elementwise/relu_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareRelu(context, Activation::kRelu0To1, false);
}

Status Run(const RunContext& context) { return RunRelu(context, UnaryFn::kRelu0To1); }

}  // namespace

extern const OpDef kOpRelu0To1;
const OpDef kOpRelu0To1 = {OpCode::kRelu0To1, "RELU_0_TO_1", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
