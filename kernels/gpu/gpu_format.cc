// Conversions between the host's tensors and the device's (see gpu_format.h).
#include "kernels/gpu/gpu_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/quant.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

// Kernels count elements in int32, four ahead of the last one.
constexpr int64_t kMostElements = (int64_t{1} << 31) - 1024;
// float16 keeps each of 256 steps apart between these scales: below, steps are smaller than its
// finest spacing times 4; above, the last step is infinite.
constexpr float kLeastHalfScale = 0x1p-22f, kMostHalfScale = 255.0f;

template <typename T>
T At(const void* data, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(data) + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Put(T value, void* data, size_t i) {
  std::memcpy(static_cast<uint8_t*>(data) + i * sizeof(T), &value, sizeof(T));
}

// Element i of a tensor of integers, packed ones among them, or bool.
int64_t IntegerAt(DType dtype, const void* data, size_t i) {
  switch (dtype) {
    case DType::kInt2:
    case DType::kInt4:
    case DType::kUInt4:
      return PackedAt(dtype, data, static_cast<int64_t>(i));
    case DType::kInt8:
      return At<int8_t>(data, i);
    case DType::kUInt8:
      return At<uint8_t>(data, i);
    case DType::kBool:
      return At<uint8_t>(data, i) != 0 ? 1 : 0;
    case DType::kInt16:
      return At<int16_t>(data, i);
    case DType::kInt64:
      return At<int64_t>(data, i);
    default:
      return At<int32_t>(data, i);
  }
}

void PutInteger(DType dtype, int32_t value, void* data, size_t i) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kUInt8:
      return Put(static_cast<uint8_t>(value), data, i);
    case DType::kBool:
      return Put(static_cast<uint8_t>(value != 0 ? 1 : 0), data, i);
    case DType::kInt16:
      return Put(static_cast<uint16_t>(value), data, i);
    case DType::kInt64:
      return Put(static_cast<int64_t>(value), data, i);
    default:
      return Put(value, data, i);
  }
}

bool IsInteger(DType dtype) {
  return IsQuantizedInteger(dtype) || dtype == DType::kBool || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

void PutReal(float value, Storage storage, void* device, size_t i) {
  if (storage == Storage::kFloat16) return Put(FloatToHalf(value), device, i);
  Put(value, device, i);
}

float RealAt(Storage storage, const void* device, size_t i) {
  return storage == Storage::kFloat16 ? HalfToFloat(At<uint16_t>(device, i)) : At<float>(device, i);
}

// float32 on the host, float16 on the device.
bool IsHalfOfFloat(const GpuFormat& format, Storage storage) {
  return format.is_real && !format.is_quantized() && storage == Storage::kFloat16;
}

std::string WhyNotQuantized(const TensorView& view, Storage storage, GpuFormat* format) {
  const Quantization& quantization = *view.quantization;
  if (quantization.scales.size() != 1) return "has several scales";
  format->scale = ScaleOf(view);
  const int64_t zero_point =
      quantization.zero_points.empty() ? 0 : quantization.zero_points[size_t{0}];
  const QuantizedRange range = RangeOf(view.dtype);
  if (!std::isfinite(format->scale) || format->scale <= 0.0f || zero_point < range.lo ||
      zero_point > range.hi) {
    return "has no valid scale and zero point";
  }
  format->zero_point = static_cast<int32_t>(zero_point);
  format->is_bytes = view.dtype != DType::kInt16;
  const bool is_half = storage == Storage::kFloat16;
  return is_half && !format->is_bytes ? "is quantized int16, which float16 cannot hold" : "";
}

}  // namespace

std::string FindGpuFormat(const TensorView& view, Storage storage, GpuFormat* format) {
  *format = GpuFormat();
  format->dtype = view.dtype;
  if (view.shape.NumElements() == 0) return "has no elements";
  if (view.shape.NumElements() > kMostElements) return "is too large";
  if (view.dtype == DType::kFloat32) return "";
  if (!IsInteger(view.dtype)) return std::string("is ") + DTypeName(view.dtype);
  if (IsQuantizedInteger(view.dtype) && view.quantization != nullptr &&
      !view.quantization->scales.empty()) {
    return WhyNotQuantized(view, storage, format);
  }
  format->is_real = false;
  return "";
}

std::string WhyNotReal(const GpuFormat& format, Storage storage) {
  if (storage == Storage::kFloat32 || !format.is_bytes) return "";
  const bool fits = format.scale >= kLeastHalfScale && format.scale <= kMostHalfScale;
  return fits ? "" : "has a scale that float16 cannot hold";
}

bool IsSameOnHost(const GpuFormat& format, Storage storage) {
  if (format.is_bytes) return true;
  if (!format.is_real) return format.dtype == DType::kInt32;
  return !format.is_quantized() && storage == Storage::kFloat32;
}

Status ToGpuFormat(const GpuFormat& format, Storage storage, const void* host, size_t n,
                   void* device) {
  if (format.is_bytes) {
    if (n > 0) std::memcpy(device, host, n);
    return Status::Ok();
  }
  if (IsHalfOfFloat(format, storage)) {
    BestCpuKernels().elementwise->float_to_half(
        static_cast<const float*>(host), static_cast<uint16_t*>(device), static_cast<int64_t>(n));
    return Status::Ok();
  }
  for (size_t i = 0; i < n && format.is_real; ++i) {
    float value = 0.0f;
    if (format.is_quantized()) {
      const int64_t steps = IntegerAt(format.dtype, host, i) - format.zero_point;
      value = format.scale * static_cast<float>(steps);
    } else {
      value = At<float>(host, i);
    }
    PutReal(value, storage, device, i);
  }
  for (size_t i = 0; i < n && !format.is_real; ++i) {
    const int64_t value = IntegerAt(format.dtype, host, i);
    if (value != static_cast<int32_t>(value)) {
      return InvalidArgument("the device computes with int32, and the value {} is beyond it",
                             value);
    }
    Put(static_cast<int32_t>(value), device, i);
  }
  return Status::Ok();
}

void FromGpuFormat(const GpuFormat& format, Storage storage, const void* device, size_t n,
                   void* host) {
  if (format.is_bytes) {
    if (n > 0) std::memcpy(host, device, n);
    return;
  }
  if (IsHalfOfFloat(format, storage)) {
    BestCpuKernels().elementwise->half_to_float(static_cast<const uint16_t*>(device),
                                                static_cast<float*>(host), static_cast<int64_t>(n));
    return;
  }
  if (!format.is_real) {
    for (size_t i = 0; i < n; ++i) PutInteger(format.dtype, At<int32_t>(device, i), host, i);
    return;
  }
  const QuantizedRange range = RangeOf(format.dtype);
  for (size_t i = 0; i < n; ++i) {
    const float value = RealAt(storage, device, i);
    if (!format.is_quantized()) {
      Put(value, host, i);
      continue;
    }
    const float lo = static_cast<float>(range.lo - format.zero_point);
    const float hi = static_cast<float>(range.hi - format.zero_point);
    const float steps = std::round(value / format.scale);
    // NaN becomes the least value.
    const float inside = steps > lo ? std::min(steps, hi) : lo;
    PutInteger(format.dtype, static_cast<int32_t>(inside) + format.zero_point, host, i);
  }
}

void ReadReals(const TensorView& view, Span<const float> scales, float* to) {
  const size_t n = static_cast<size_t>(view.shape.NumElements());
  if (view.dtype == DType::kFloat32) {
    if (n > 0) std::memcpy(to, view.data, n * sizeof(float));
    return;
  }
  if (view.dtype == DType::kFloat16) {
    BestCpuKernels().elementwise->half_to_float(static_cast<const uint16_t*>(view.data), to,
                                                static_cast<int64_t>(n));
    return;
  }
  if (view.quantization != nullptr && view.quantization->block > 0) {
    const size_t block = static_cast<size_t>(view.quantization->block);
    for (size_t i = 0; i < n; ++i) {
      to[i] = view.quantization->scales[i / block] *
              static_cast<float>(IntegerAt(view.dtype, view.data, i));
    }
    return;
  }
  Span<const int64_t> points;
  int axis = 0;
  if (view.quantization != nullptr) {
    if (scales.empty()) scales = view.quantization->scales;
    points = view.quantization->zero_points;
    axis = view.quantization->axis;
  }
  const bool has_axis = axis >= 0 && axis < view.shape.rank();
  const size_t channels = has_axis ? static_cast<size_t>(view.shape[axis]) : 1;
  const size_t inner =
      has_axis ? static_cast<size_t>(view.shape.Product(axis + 1, view.shape.rank())) : 1;
  for (size_t first = 0; first < n; first += inner) {
    const size_t channel = first / inner % channels;
    const float scale = scales.empty() ? 1.0f : scales[channel < scales.size() ? channel : 0];
    const int64_t point = points.empty() ? 0 : points[channel < points.size() ? channel : 0];
    const int32_t byte_point = static_cast<int32_t>(point);
    if (view.dtype == DType::kInt8) {  // most weights
      const int8_t* from = static_cast<const int8_t*>(view.data) + first;
      for (size_t i = 0; i < inner; ++i) {
        to[first + i] = scale * static_cast<float>(from[i] - byte_point);
      }
      continue;
    }
    for (size_t i = first; i < first + inner; ++i) {
      to[i] = scale * static_cast<float>(IntegerAt(view.dtype, view.data, i) - point);
    }
  }
}

Status ReadInts32(const TensorView& view, int32_t* to) {
  GpuFormat format;
  format.dtype = view.dtype;
  format.is_real = false;
  return ToGpuFormat(format, Storage::kFloat32, view.data,
                     static_cast<size_t>(view.shape.NumElements()), to);
}

}  // namespace topwork
