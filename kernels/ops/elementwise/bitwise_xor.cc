// BITWISE_XOR: y = a ^ b for integers of 8 to 32 bits, with broadcasting. And the checks of all
// operators on bits.
#include "kernels/ops/elementwise/bitwise.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status PrepareBitwise(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt8, DType::kUInt8, DType::kInt16,
                                            DType::kUInt16, DType::kInt32, DType::kUInt32}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  context.NewState<NestState>()->nest =
      MakeLoopNest(out, {context.input(0)->shape, context.input(1)->shape});
  AllowInPlaceWhereSafe(&context, 0, 2);
  return Status::Ok();
}

namespace {

Status Run(const RunContext& context) {
  switch (ElementBytes(context.in(0))) {
    case 1:
      MapBits<uint8_t>(context, [](uint8_t a, uint8_t b) { return a ^ b; });
      break;
    case 2:
      MapBits<uint16_t>(context, [](uint16_t a, uint16_t b) { return a ^ b; });
      break;
    default:
      MapBits<uint32_t>(context, [](uint32_t a, uint32_t b) { return a ^ b; });
      break;
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpBitwiseXor;
const OpDef kOpBitwiseXor = {
    OpCode::kBitwiseXor, "BITWISE_XOR", 125, 1, nullptr, PrepareBitwise, Run};

}  // namespace topwork
