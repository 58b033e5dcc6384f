// RIGHT_SHIFT: y = a >> b for integers of 8 to 32 bits, with broadcasting. Signed numbers keep
// their sign; a distance is clamped to [0, bits - 1].
#include <algorithm>

#include "kernels/ops/elementwise/bitwise.h"

namespace topwork {
namespace {

template <typename T>
void RunAs(const RunContext& context) {
  MapBits<T>(context, [](T a, T b) {
    const int64_t distance = std::clamp<int64_t>(b, 0, 8 * int64_t{sizeof(T)} - 1);
    return static_cast<T>(static_cast<int64_t>(a) >> distance);
  });
}

Status Run(const RunContext& context) {
  switch (context.in(0).dtype) {
    case DType::kInt8:
      RunAs<int8_t>(context);
      break;
    case DType::kUInt8:
      RunAs<uint8_t>(context);
      break;
    case DType::kInt16:
      RunAs<int16_t>(context);
      break;
    case DType::kUInt16:
      RunAs<uint16_t>(context);
      break;
    case DType::kInt32:
      RunAs<int32_t>(context);
      break;
    default:
      RunAs<uint32_t>(context);
      break;
  }
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpRightShift;
const OpDef kOpRightShift = {
    OpCode::kRightShift, "RIGHT_SHIFT", 126, 1, nullptr, PrepareBitwise, Run};

}  // namespace topwork
