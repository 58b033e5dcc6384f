// Functions of one tensor, element by element: what the float activations and the mathematical
// operators share. The output has the input's shape and type and may take its place.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_H_

#include "kernels/contract/kernel.h"
#include "kernels/cpu/elementwise.h"

namespace topwork {

// One input and one output of one of the types given.
Status PrepareUnary(PrepareContext& context, std::initializer_list<DType> dtypes);
// float32.
Status PrepareUnaryFloat(PrepareContext& context);

// float32; alpha as in UnaryFunction.
Status RunUnaryFloat(const RunContext& context, UnaryFn fn, float alpha = 0.0f);

// What LOGISTIC computes: fusion may have made a product with its input part of it.
inline UnaryFn LogisticFn(const OpParams& params) {
  return params.fused_product ? UnaryFn::kSwish : UnaryFn::kLogistic;
}

// The function that the operator computes of floats and a convolution can end with (OpParams::fused_function);
// −1: none.
inline int EndingFunction(OpCode code, const OpParams& params) {
  if (code == OpCode::kHardSwish) return static_cast<int>(UnaryFn::kHardSwish);
  return code == OpCode::kLogistic ? static_cast<int>(LogisticFn(params)) : -1;
}

// OpDef::run_cpu of a function without parameters.
template <UnaryFn kFn>
Status RunUnary(const RunContext& context) {
  return RunUnaryFloat(context, kFn);
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_UNARY_H_
