// ABS: y = |x|; float32 and int32 (the least int32 stays as it is).
#include "kernels/ops/unary.h"
#include "kernels/ops/unary_int.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareUnary(context, {DType::kFloat32, DType::kInt32});
}

Status Run(const RunContext& context) {
  if (IsFloat(context.in(0).dtype)) return RunUnaryFloat(context, UnaryFn::kAbs);
  MapInts<int32_t>(context, [](int32_t x) {
    const uint32_t bits = static_cast<uint32_t>(x);
    return static_cast<int32_t>(x < 0 ? 0u - bits : bits);
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpAbs;
const OpDef kOpAbs = {OpCode::kAbs, "ABS", 78, 5, nullptr, Prepare, Run};

}  // namespace topwork
