// Numbers of every dtype; half precision is decoded from its bits (IEEE 754 binary16 and bfloat16).
#include "ports/cli/numbers.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace topwork {
namespace cli {
namespace {

template <typename T>
T Load(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const double fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) return sign * std::ldexp(fraction + 1024.0, exponent - 25);
  return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
}

double BfloatToDouble(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return static_cast<double>(Load<float>(&wide, 0));
}

}  // namespace

bool IsInteger(tw_dtype dtype) {
  switch (dtype) {
    case TW_DTYPE_INT8:
    case TW_DTYPE_UINT8:
    case TW_DTYPE_INT16:
    case TW_DTYPE_UINT16:
    case TW_DTYPE_INT32:
    case TW_DTYPE_UINT32:
    case TW_DTYPE_INT64:
    case TW_DTYPE_UINT64:
      return true;
    default:
      return false;
  }
}

bool IsFloat(tw_dtype dtype) {
  return dtype == TW_DTYPE_FLOAT32 || dtype == TW_DTYPE_FLOAT64 || dtype == TW_DTYPE_FLOAT16 ||
         dtype == TW_DTYPE_BFLOAT16;
}

double NumberAt(tw_dtype dtype, const void* data, int64_t i) {
  switch (dtype) {
    case TW_DTYPE_FLOAT32:
      return static_cast<double>(Load<float>(data, i));
    case TW_DTYPE_FLOAT64:
      return Load<double>(data, i);
    case TW_DTYPE_FLOAT16:
      return HalfToDouble(Load<uint16_t>(data, i));
    case TW_DTYPE_BFLOAT16:
      return BfloatToDouble(Load<uint16_t>(data, i));
    case TW_DTYPE_INT8:
      return Load<int8_t>(data, i);
    case TW_DTYPE_UINT8:
      return Load<uint8_t>(data, i);
    case TW_DTYPE_INT16:
      return Load<int16_t>(data, i);
    case TW_DTYPE_UINT16:
      return Load<uint16_t>(data, i);
    case TW_DTYPE_INT32:
      return Load<int32_t>(data, i);
    case TW_DTYPE_UINT32:
      return Load<uint32_t>(data, i);
    case TW_DTYPE_INT64:
      return static_cast<double>(Load<int64_t>(data, i));
    case TW_DTYPE_UINT64:
      return static_cast<double>(Load<uint64_t>(data, i));
    case TW_DTYPE_BOOL:
      return Load<uint8_t>(data, i) != 0 ? 1.0 : 0.0;
    default:
      return 0.0;
  }
}

double RealAt(const tw_tensor_info& tensor, int64_t i) {
  const double stored = NumberAt(tensor.dtype, tensor.data, i);
  if (tensor.n_scales != 1 || !IsInteger(tensor.dtype)) return stored;
  return (stored - static_cast<double>(tensor.zero_points[0])) *
         static_cast<double>(tensor.scales[0]);
}

}  // namespace cli
}  // namespace topwork
