// LEAKY_RELU: y = x > 0 ? x : alpha * x; float32.
#include "kernels/ops/unary.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->alpha = options.Float(0, 0.0f);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  return RunUnaryFloat(context, UnaryFn::kLeakyRelu, context.params->alpha);
}

}  // namespace

extern const OpDef kOpLeakyRelu;
const OpDef kOpLeakyRelu = {OpCode::kLeakyRelu, "LEAKY_RELU", 75, 2, Parse, PrepareUnaryFloat, Run};

}  // namespace topwork
