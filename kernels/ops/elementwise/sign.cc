// SIGN: y = -1, 0 or 1 as x is below, at or above 0; float32, float64 and int32. NaN stays NaN.
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_int.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareUnary(context, {DType::kFloat32, DType::kFloat64, DType::kInt32});
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kSign);
  if (context.in(0).dtype == DType::kFloat64) {
    MapInts<double>(context, [](double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); });
    return Status::Ok();
  }
  MapInts<int32_t>(context, [](int32_t x) { return (x > 0) - (x < 0); });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpSign;
const OpDef kOpSign = {OpCode::kSign, "SIGN", 123, 2, nullptr, Prepare, Run};

}  // namespace topwork
