// GELU: y = x Φ(x) with the normal distribution Φ, exactly or by the usual tanh formula
// (option `approximate`); float32.
#include "kernels/ops/unary.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->approximate = options.Bool(0, false);
  return Status::Ok();
}

Status Run(const RunContext& context) {
  return RunUnaryFloat(context, context.params->approximate ? UnaryFn::kGeluTanh : UnaryFn::kGelu);
}

}  // namespace

extern const OpDef kOpGelu;
const OpDef kOpGelu = {OpCode::kGelu, "GELU", 116, 2, Parse, PrepareUnaryFloat, Run};

}  // namespace topwork
