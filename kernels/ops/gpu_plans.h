// How each family of operators becomes launches; see kernels/gpu_table.cc for who is who.
#ifndef TOPWORK_KERNELS_OPS_GPU_PLANS_H_
#define TOPWORK_KERNELS_OPS_GPU_PLANS_H_

#include "kernels/cpu/elementwise.h"
#include "kernels/gpu_context.h"
#include "kernels/ops/reduce.h"

namespace topwork {

// Arguments of launches. WhyNotFloat has seen to it that sizes fit into int32.
inline LaunchArgument BufferArg(int block) { return LaunchArgument::Buffer(block); }
inline LaunchArgument IntArg(int64_t value) {
  return LaunchArgument::Int(static_cast<int32_t>(value));
}
inline LaunchArgument FloatArg(float value) { return LaunchArgument::Float(value); }

// elementwise_gpu.cc
Status PlanUnary(GpuContext& context, UnaryFn fn, float alpha);
template <UnaryFn kFn>
Status PlanUnaryFn(GpuContext& context) {
  return PlanUnary(context, kFn, 0.0f);
}
Status PlanLeakyRelu(GpuContext& context);
Status PlanGelu(GpuContext& context);
Status PlanBinary(GpuContext& context, BinaryFn fn);
template <BinaryFn kFn>
Status PlanBinaryFn(GpuContext& context) {
  return PlanBinary(context, kFn);
}

// movement_gpu.cc
Status PlanReshape(GpuContext& context);      // output 0 is input 0
Status PlanStridedCopy(GpuContext& context);  // the state is a StridedCopy from input 0 to output 0
Status PlanJoin(GpuContext& context);         // CONCATENATION, PACK
template <int kWhole>
Status PlanSplitFrom(GpuContext& context);  // SPLIT, SPLIT_V, UNPACK; instantiated for 0 and 1
Status PlanPad(GpuContext& context);

Status PlanDepthwiseConv2D(GpuContext& context);  // depthwise_gpu.cc
Status PlanFullyConnected(GpuContext& context);   // product_gpu.cc
// conv_gpu.cc
Status PlanConv2D(GpuContext& context);
enum class PoolKind : int { kAverage = 0, kMax = 1, kL2 = 2 };
Status PlanPool(GpuContext& context, PoolKind kind);
template <PoolKind kKind>
Status PlanPoolKind(GpuContext& context) {
  return PlanPool(context, kKind);
}

// reduce_gpu.cc
Status PlanReduce(GpuContext& context, ReduceKind kind);
template <ReduceKind kKind>
Status PlanReduceKind(GpuContext& context) {
  return PlanReduce(context, kKind);
}
enum class RowwiseKind : int { kSoftmax = 0, kLogSoftmax = 1, kL2Normalization = 2 };
Status PlanRowwise(GpuContext& context, RowwiseKind kind);
template <RowwiseKind kKind>
Status PlanRowwiseKind(GpuContext& context) {
  return PlanRowwise(context, kKind);
}
Status PlanResizeBilinear(GpuContext& context);
Status PlanResizeNearest(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_GPU_PLANS_H_
