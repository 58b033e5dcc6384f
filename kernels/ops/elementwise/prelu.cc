// PRELU: y = x ≥ 0 ? x : alpha * x, float32, int8, uint8 and int16 (with int8 slopes); alpha
// broadcasts to the shape of x (one slope a channel as a rule).
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  const bool quantized = AreQuantized(*context.input(0));
  TW_RETURN_IF_ERROR(quantized ? PrepareBinaryQuant(context, BinaryFn::kPrelu)
                               : PrepareBinaryFloat(context));
  const Shape& shape = context.input(0)->shape;
  if (context.output(0).shape != shape) {
    return InvalidModel("%s: %s of shape %s does not broadcast to %s of shape %s",
                        context.Where().c_str(), context.InputName(1).c_str(),
                        context.input(1)->shape.ToString().c_str(), context.InputName(0).c_str(),
                        shape.ToString().c_str());
  }
  return Status::Ok();
}

Status Run(const RunContext& context) {
  return RunBinaryNumber(context, BinaryFn::kPrelu, "PRELU");
}

}  // namespace

extern const OpDef kOpPrelu;
const OpDef kOpPrelu = {OpCode::kPrelu, "PRELU", 0, 1, nullptr, Prepare, Run};

}  // namespace topwork
