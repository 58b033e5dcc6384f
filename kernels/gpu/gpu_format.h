// GpuFormat: how a tensor lies in a device's memory, and its conversion at a program's border.
//
// Real numbers lie as float32 or float16 (Storage). Quantized numbers with one scale: int8 and
// uint8 as their bytes, as on the host; int16 as the real numbers that they mean, on their grid.
// All other integers and bool lie as int32. Tensors are dense, in their own order.
#ifndef TOPWORK_KERNELS_GPU_GPU_FORMAT_H_
#define TOPWORK_KERNELS_GPU_GPU_FORMAT_H_

#include <string>

#include "kernels/gpu/launch.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

struct GpuFormat {
  DType dtype = DType::kFloat32;  // on the host
  bool is_real = true;            // means real numbers; else int32
  bool is_bytes = false;          // int8 or uint8 with a scale
  float scale = 0.0f;             // of a quantized tensor; 0: not quantized
  int32_t zero_point = 0;

  bool is_quantized() const { return scale != 0.0f; }
  bool operator==(const GpuFormat& other) const {
    return is_real == other.is_real && is_bytes == other.is_bytes && scale == other.scale &&
           zero_point == other.zero_point && (!is_bytes || dtype == other.dtype);
  }
};

// Of one element on the device.
inline size_t GpuElementBytes(const GpuFormat& format, Storage storage) {
  return format.is_bytes ? 1 : format.is_real ? StorageBytes(storage) : sizeof(int32_t);
}

// "" and the tensor's format, or why a device cannot hold it.
std::string FindGpuFormat(const TensorView& view, Storage storage, GpuFormat* format);

// Why real numbers in this storage cannot replace the bytes where an operator needs real numbers;
// "" if they can.
std::string WhyNotReal(const GpuFormat& format, Storage storage);

// Whether host and device hold the same bytes.
bool IsSameOnHost(const GpuFormat& format, Storage storage);

// n elements from the host's bytes to the device's. INVALID_ARGUMENT for an int64 beyond int32.
Status ToGpuFormat(const GpuFormat& format, Storage storage, const void* host, size_t n,
                   void* device);
// And back: reals are rounded to the quantized tensor's grid, ties away from zero, and clamped.
void FromGpuFormat(const GpuFormat& format, Storage storage, const void* device, size_t n,
                   void* host);

// The values of a constant (float32, float16, or quantized int2, int4, int8, uint8, int16, int32,
// int64 with one scale or one a channel) as real numbers. `scales`, where not empty, replaces the
// tensor's own; a tensor without any has a scale of 1.
void ReadReals(const TensorView& view, Span<const float> scales, float* to);
// The values of a constant integer or bool tensor.
Status ReadInts32(const TensorView& view, int32_t* to);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_FORMAT_H_
