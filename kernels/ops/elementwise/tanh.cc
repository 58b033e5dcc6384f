// TANH: y = tanh x; float32, int8, uint8 and int16.
#include <cmath>

#include "kernels/ops/elementwise/sigmoid_int16.h"
#include "kernels/ops/elementwise/unary.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  const DType dtype = context.input(0)->dtype;
  if (IsFloat(dtype)) return PrepareUnaryFloat(context);
  if (dtype == DType::kInt16) return PrepareSigmoidInt16(context, true);
  return PrepareRealMap(context, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16},
                        [](float x) { return std::tanh(x); });
}

Status Run(const RunContext& context) {
  const DType dtype = context.in(0).dtype;
  if (IsFloat(dtype)) return RunUnaryFloat(context, UnaryFn::kTanh);
  return dtype == DType::kInt16 ? RunMap<SigmoidMap>(context) : RunMap<RealMap>(context);
}

}  // namespace

extern const OpDef kOpTanh;
const OpDef kOpTanh = {OpCode::kTanh, "TANH", 0, 3, nullptr, Prepare, Run};

}  // namespace topwork
