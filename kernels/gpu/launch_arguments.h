// Arguments of launches, and which tensors are bytes on a GPU.
#ifndef TOPWORK_KERNELS_GPU_LAUNCH_ARGUMENTS_H_
#define TOPWORK_KERNELS_GPU_LAUNCH_ARGUMENTS_H_

#include "kernels/gpu/gpu_context.h"

namespace topwork {

// Arguments of launches. GpuContext::why_not has seen to it that sizes fit into int32.
inline LaunchArgument BufferArg(int block) { return LaunchArgument::Buffer(block); }
inline LaunchArgument IntArg(int64_t value) {
  return LaunchArgument::Int(static_cast<int32_t>(value));
}
inline LaunchArgument FloatArg(float value) { return LaunchArgument::Float(value); }
// Of an enum of functions.h.
template <typename Enum>
LaunchArgument EnumArg(Enum value) {
  return LaunchArgument::Int(static_cast<int32_t>(value));
}

// Whether output 0 and the first inputs stay bytes.
inline bool AreBytes(const GpuContext& context, int n_inputs) {
  bool are = context.output_format(0).is_bytes;
  for (int i = 0; i < n_inputs; ++i) are = are && context.input_format(i).is_bytes;
  return are;
}
// What the kernels of bytes call `is_unsigned`: whether they are uint8.
inline LaunchArgument SignArg(const GpuContext& context) {
  return IntArg(context.input_format(0).dtype == DType::kUInt8);
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_LAUNCH_ARGUMENTS_H_
