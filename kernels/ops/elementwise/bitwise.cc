// BITWISE_XOR and RIGHT_SHIFT (see bitwise.h).
#include "kernels/ops/elementwise/bitwise.h"

#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {

// BITWISE_XOR: y = a ^ b for integers of 8 to 32 bits, with broadcasting. And the checks of all
// operators on bits.

Status PrepareBitwise(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt8, DType::kUInt8, DType::kInt16,
                                            DType::kUInt16, DType::kInt32, DType::kUInt32}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, out));
  PlanNest(&context, out, {context.input(0)->shape, context.input(1)->shape},
           &context.NewState<NestState>()->nest);
  AllowInPlaceWhereSafe(&context, 0, 2);
  return Status::Ok();
}

namespace {

Status RunBitwiseXor(const RunContext& context) {
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

// RIGHT_SHIFT: y = a >> b for integers of 8 to 32 bits, with broadcasting. Signed numbers keep
// their sign; a distance is clamped to [0, bits - 1].

template <typename T>
void RunAs(const RunContext& context) {
  MapBits<T>(context, [](T a, T b) {
    const int64_t distance = std::clamp<int64_t>(b, 0, 8 * int64_t{sizeof(T)} - 1);
    return static_cast<T>(static_cast<int64_t>(a) >> distance);
  });
}

Status RunRightShift(const RunContext& context) {
  VisitDType<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>(
      context.in(0).dtype, [&](auto type) { RunAs<decltype(type)>(context); });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kBitwiseXor)
        .Types({DType::kInt32, DType::kUInt8, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kUInt16})
        .Options(OptionsType::kBitwiseXor)
        .Cpu(PrepareBitwise, RunBitwiseXor),
    OpDef(OpCode::kRightShift)
        .Types({DType::kInt32, DType::kUInt8, DType::kInt16, DType::kInt8, DType::kUInt32,
                DType::kUInt16})
        .Options(OptionsType::kRightShift)
        .Cpu(PrepareBitwise, RunRightShift),
};

Span<const OpDef> BitwiseOps() { return Selected<kOps>(); }

}  // namespace topwork
