// Numbers of every dtype; half precision is decoded from its bits (IEEE 754 binary16 and bfloat16).
#include "ports/cli/data/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ports/cli/cli_error.h"

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

bool IsSmallInteger(tw_dtype dtype) {
  return dtype == TW_DTYPE_INT8 || dtype == TW_DTYPE_UINT8 || dtype == TW_DTYPE_INT16 ||
         dtype == TW_DTYPE_UINT16;
}

// bfloat16 as float32.
std::vector<uint8_t> Widened(const void* data, int64_t n) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n) * sizeof(float), 0);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(bytes.data() + i * 4 + 2, static_cast<const char*>(data) + i * 2, 2);
  }
  return bytes;
}

// float32 as bfloat16, to the nearest, ties to even.
std::vector<uint8_t> Halved(const void* data, int64_t n) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n) * sizeof(uint16_t));
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = Load<uint32_t>(data, i);
    if (std::isnan(Load<float>(data, i))) {
      bits |= 0x400000;
    } else {
      bits += 0x7FFF + (bits >> 16 & 1);
    }
    const uint16_t half = static_cast<uint16_t>(bits >> 16);
    std::memcpy(bytes.data() + i * 2, &half, sizeof(half));
  }
  return bytes;
}

int PackedAt(tw_dtype dtype, const void* data, int64_t i) {
  const int bits = PackedBits(dtype);
  const int64_t at = i * bits;
  const int value = Load<uint8_t>(data, at / 8) >> (at % 8) & ((1 << bits) - 1);
  const int sign = dtype == TW_DTYPE_UINT4 ? 0 : 1 << (bits - 1);
  return (value ^ sign) - sign;
}

std::vector<uint8_t> ConvertToPacked(tw_dtype from, const void* data, int64_t n,
                                     const tw_tensor_info& to, const std::string& what) {
  const int bits = PackedBits(to.dtype);
  const int least = to.dtype == TW_DTYPE_UINT4 ? 0 : -(1 << (bits - 1));
  const int most = least + (1 << bits) - 1;
  std::vector<uint8_t> bytes(static_cast<size_t>((n * bits + 7) / 8), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int value = static_cast<int>(NumberAt(from, data, i));
    if (value < least || value > most) {
      throw CliError(kExitData, what + ": holds " + std::to_string(value) + ", the " +
                                    tw_dtype_name(to.dtype) + " input '" + to.name +
                                    "' takes numbers from " + std::to_string(least) + " to " +
                                    std::to_string(most));
    }
    const int64_t at = i * bits;
    bytes[static_cast<size_t>(at / 8)] = static_cast<uint8_t>(
        bytes[static_cast<size_t>(at / 8)] | (value & ((1 << bits) - 1)) << (at % 8));
  }
  return bytes;
}

template <typename T>
std::vector<uint8_t> ConvertTo(tw_dtype from, const void* data, int64_t n, const tw_tensor_info& to,
                               const std::string& what) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n) * sizeof(T));
  for (int64_t i = 0; i < n; ++i) {
    double value = NumberAt(from, data, i);
    if (std::is_integral<T>::value) {
      if (std::isnan(value)) {
        throw CliError(kExitData, what + ": holds NaN, which the quantized input '" + to.name +
                                      "' cannot take");
      }
      value = std::round(value / static_cast<double>(to.scales[0])) +
              static_cast<double>(to.zero_points[0]);
      value = std::max(static_cast<double>(std::numeric_limits<T>::min()),
                       std::min(static_cast<double>(std::numeric_limits<T>::max()), value));
    }
    const T stored = static_cast<T>(value);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(T), &stored, sizeof(T));
  }
  return bytes;
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
      return PackedBits(dtype) != 0;
  }
}

int PackedBits(tw_dtype dtype) {
  if (dtype == TW_DTYPE_INT2) return 2;
  return dtype == TW_DTYPE_INT4 || dtype == TW_DTYPE_UINT4 ? 4 : 0;
}

tw_dtype ArrayType(tw_dtype dtype) {
  if (dtype == TW_DTYPE_BFLOAT16) return TW_DTYPE_FLOAT32;
  if (PackedBits(dtype) == 0) return dtype;
  return dtype == TW_DTYPE_UINT4 ? TW_DTYPE_UINT8 : TW_DTYPE_INT8;
}

std::vector<uint8_t> ToArray(tw_dtype dtype, const void* data, int64_t n) {
  std::vector<uint8_t> bytes;
  if (dtype == TW_DTYPE_BFLOAT16) return Widened(data, n);
  for (int64_t i = 0; i < n; ++i) {
    bytes.push_back(static_cast<uint8_t>(PackedAt(dtype, data, i)));
  }
  return bytes;
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
    case TW_DTYPE_INT2:
    case TW_DTYPE_INT4:
    case TW_DTYPE_UINT4:
      return PackedAt(dtype, data, i);
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

bool HasSoftmaxQuantization(const tw_tensor_info& tensor) {
  if (!IsInteger(tensor.dtype) || tensor.n_scales != 1) return false;
  const double scale = static_cast<double>(tensor.scales[0]);
  const auto near = [scale](double value) { return std::fabs(scale - value) < 1e-3 * value; };
  return near(1.0 / 256.0) || near(1.0 / 255.0) || near(1.0 / 32768.0);
}

bool CanConvert(tw_dtype from, const tw_tensor_info& to) {
  if (from == to.dtype) return true;
  if (from == ArrayType(to.dtype)) return true;
  if (PackedBits(to.dtype) != 0) return false;
  const bool quantized = IsSmallInteger(to.dtype) && to.n_scales == 1;
  return IsFloat(from) &&
         (to.dtype == TW_DTYPE_FLOAT32 || to.dtype == TW_DTYPE_FLOAT64 || quantized);
}

std::vector<uint8_t> Convert(tw_dtype from, const void* data, int64_t n, const tw_tensor_info& to,
                             const std::string& what) {
  if (to.dtype == TW_DTYPE_BFLOAT16) return Halved(data, n);
  if (PackedBits(to.dtype) != 0) return ConvertToPacked(from, data, n, to, what);
  if (to.dtype == TW_DTYPE_FLOAT32) return ConvertTo<float>(from, data, n, to, what);
  if (to.dtype == TW_DTYPE_FLOAT64) return ConvertTo<double>(from, data, n, to, what);
  if (to.dtype == TW_DTYPE_INT8) return ConvertTo<int8_t>(from, data, n, to, what);
  if (to.dtype == TW_DTYPE_UINT8) return ConvertTo<uint8_t>(from, data, n, to, what);
  if (to.dtype == TW_DTYPE_INT16) return ConvertTo<int16_t>(from, data, n, to, what);
  return ConvertTo<uint16_t>(from, data, n, to, what);
}

}  // namespace cli
}  // namespace topwork
