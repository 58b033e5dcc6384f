// Launches that bring real numbers to what quantized tensors can hold, and bytes to real numbers
// (cast.cl).
#ifndef TOPWORK_KERNELS_GPU_GPU_ROUNDING_H_
#define TOPWORK_KERNELS_GPU_GPU_ROUNDING_H_

#include "kernels/gpu/launch_arguments.h"

namespace topwork {

// The number of steps from the zero point to `end`.
inline LaunchArgument StepsArg(int32_t end, const GpuFormat& format) {
  return FloatArg(static_cast<float>(end - format.zero_point));
}
// n reals of the block become the nearest values that the quantized format can hold.
void AddGrid(GpuContext& context, int64_t n, const GpuFormat& format, int block);
// n reals of the block become their hyperbolic tangents: a fused activation.
void AddTanh(GpuContext& context, int64_t n, int block);
// n bytes of the format become reals of the program's storage; and the nearest bytes of reals.
void AddBytesToReal(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to);
void AddRealToBytes(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_ROUNDING_H_
