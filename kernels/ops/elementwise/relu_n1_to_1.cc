// RELU_N1_TO_1: y = min(max(x, -1), 1); float32, int8 and uint8.
#include "kernels/ops/elementwise/relu_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareRelu(context, Activation::kReluN1To1, false);
}

Status Run(const RunContext& context) { return RunRelu(context, UnaryFn::kReluN1To1); }

}  // namespace

extern const OpDef kOpReluN1To1;
const OpDef kOpReluN1To1 = {OpCode::kReluN1To1, "RELU_N1_TO_1", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
