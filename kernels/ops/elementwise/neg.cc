// NEG: y = -x; float32, int8, int16, int32 and int64 (the least integer stays as it is). As in
// TFLite integers are negated as they are, whatever their scales and zero points.
#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_int.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return PrepareUnary(context,
                      {DType::kFloat32, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
}

Status Run(const RunContext& context) {
  switch (context.in(0).dtype) {
    case DType::kInt8:
      MapInts<int8_t>(context, [](int8_t x) { return static_cast<int8_t>(0 - x); });
      return Status::Ok();
    case DType::kInt16:
      MapInts<int16_t>(context, [](int16_t x) { return static_cast<int16_t>(0 - x); });
      return Status::Ok();
    case DType::kInt32:
      MapInts<int32_t>(
          context, [](int32_t x) { return static_cast<int32_t>(0u - static_cast<uint32_t>(x)); });
      return Status::Ok();
    case DType::kInt64:
      MapInts<int64_t>(context, [](int64_t x) {
        return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(x));
      });
      return Status::Ok();
    default:
      return RunUnaryFloat(context, UnaryFn::kNeg);
  }
}

}  // namespace

extern const OpDef kOpNeg;
const OpDef kOpNeg = {OpCode::kNeg, "NEG", 42, 1, nullptr, Prepare, Run};

}  // namespace topwork
