// How elementwise operators become launches.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_ELEMENTWISE_GPU_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_ELEMENTWISE_GPU_H_

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch_arguments.h"

namespace topwork {

Status PlanUnary(GpuContext& context, UnaryFn fn, float alpha);
template <UnaryFn kFn>
Status PlanUnaryFn(GpuContext& context) {
  return PlanUnary(context, kFn, 0.0f);
}
Status PlanNeg(GpuContext& context);
Status PlanAddN(GpuContext& context);
Status PlanLeakyRelu(GpuContext& context);
Status PlanGelu(GpuContext& context);
Status PlanLogistic(GpuContext& context);
Status PlanBinary(GpuContext& context, BinaryFn fn);
template <BinaryFn kFn>
Status PlanBinaryFn(GpuContext& context) {
  return PlanBinary(context, kFn);
}

// Of int32: ADD, SUB, MUL, MAXIMUM, MINIMUM. (compare_gpu.cc)
Status PlanBinaryInt(GpuContext& context, BinaryFn fn);

// compare_gpu.cc
Status PlanSelect(GpuContext& context);  // SELECT, SELECT_V2
Status PlanCompare(GpuContext& context, CompareFn fn);
template <CompareFn kFn>
Status PlanCompareFn(GpuContext& context) {
  return PlanCompare(context, kFn);
}
Status PlanLogical(GpuContext& context, LogicalFn fn);
template <LogicalFn kFn>
Status PlanLogicalFn(GpuContext& context) {
  return PlanLogical(context, kFn);
}
Status PlanLogicalNot(GpuContext& context);

// cast_gpu.cc
Status PlanCast(GpuContext& context);
Status PlanQuantize(GpuContext& context);
Status PlanDequantize(GpuContext& context);  // on a GPU both are real numbers

// Tensors of bytes. False, and nothing is added, where they are none or the function has no kernel
// for them. (integer_elementwise_gpu.cc)
bool AddIntegerLookup(GpuContext& context);  // of an operator with a TableState
bool AddIntegerBinary(GpuContext& context, BinaryFn fn);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_ELEMENTWISE_GPU_H_
