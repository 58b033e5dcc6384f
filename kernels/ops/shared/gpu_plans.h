// How each family of operators becomes launches; see kernels/gpu/gpu_table.cc for who is who.
#ifndef TOPWORK_KERNELS_OPS_SHARED_GPU_PLANS_H_
#define TOPWORK_KERNELS_OPS_SHARED_GPU_PLANS_H_

#include "kernels/cpu/elementwise.h"
#include "kernels/gpu/gpu_context.h"
#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {

// Arguments of launches. GpuContext::why_not has seen to it that sizes fit into int32.
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
Status PlanNeg(GpuContext& context);
Status PlanAddN(GpuContext& context);
Status PlanLeakyRelu(GpuContext& context);
Status PlanGelu(GpuContext& context);
Status PlanBinary(GpuContext& context, BinaryFn fn);
template <BinaryFn kFn>
Status PlanBinaryFn(GpuContext& context) {
  return PlanBinary(context, kFn);
}

// Of int32: ADD, SUB, MUL, MAXIMUM, MINIMUM. (choice_gpu.cc)
Status PlanBinaryInt(GpuContext& context, BinaryFn fn);

// movement_gpu.cc
// Copies elements of output 0's kind; the copy counts `bytes` for each of them.
void AddStridedCopy(GpuContext& context, const StridedCopy& copy, int64_t bytes, int from, int to);
Status PlanReshape(GpuContext& context);      // output 0 is input 0
Status PlanStridedCopy(GpuContext& context);  // the state is a StridedCopy from input 0 to output 0
Status PlanJoin(GpuContext& context);         // CONCATENATION, PACK
template <int kWhole>
Status PlanSplitFrom(GpuContext& context);  // SPLIT, SPLIT_V, UNPACK; instantiated for 0 and 1
Status PlanPad(GpuContext& context);

Status PlanDepthwiseConv2D(GpuContext& context);  // depthwise_gpu.cc
Status PlanFullyConnected(GpuContext& context);   // product_gpu.cc

Status PlanSpaceBatchNd(GpuContext& context, bool to_batch);  // SPACE_TO_BATCH_ND and back
template <bool kToBatch>
Status PlanSpaceBatch(GpuContext& context) {
  return PlanSpaceBatchNd(context, kToBatch);
}
Status PlanMirrorPad(GpuContext& context);

// choice_gpu.cc
Status PlanGather(GpuContext& context);
Status PlanGatherNd(GpuContext& context);
Status PlanEmbeddingLookup(GpuContext& context);
Status PlanDynamicUpdateSlice(GpuContext& context);
Status PlanSelect(GpuContext& context);  // SELECT, SELECT_V2
// `fn` of compare.cl.
Status PlanCompare(GpuContext& context, int fn);
template <int kFn>
Status PlanCompareFn(GpuContext& context) {
  return PlanCompare(context, kFn);
}
Status PlanLogicalNot(GpuContext& context);

// cast_gpu.cc
Status PlanCast(GpuContext& context);
Status PlanQuantize(GpuContext& context);
// n reals of the block become the nearest values that the quantized format can hold.
void AddGrid(GpuContext& context, int64_t n, const GpuFormat& format, int block);
void AddTanh(GpuContext& context, int64_t n, int block);
// n bytes of the format become reals of the program's storage; and the nearest bytes of reals.
void AddBytesToReal(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to);
void AddRealToBytes(GpuContext& context, int64_t n, const GpuFormat& format, int from, int to);

// batch_matmul_gpu.cc
Status PlanBatchMatMul(GpuContext& context);
// FULLY_CONNECTED whose weights or bias only a run knows.
Status PlanFullyConnectedOfInputs(GpuContext& context);
Status PlanTransposeConv(GpuContext& context);

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
Status PlanArgExtreme(GpuContext& context, bool largest);
template <bool kLargest>
Status PlanArgExtremeOf(GpuContext& context) {
  return PlanArgExtreme(context, kLargest);
}
Status PlanCumsum(GpuContext& context);
Status PlanLocalResponseNormalization(GpuContext& context);
Status PlanResizeBilinear(GpuContext& context);
Status PlanResizeNearest(GpuContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_GPU_PLANS_H_
