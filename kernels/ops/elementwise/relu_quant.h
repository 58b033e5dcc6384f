// RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1 on quantized tensors: rescaled, then clamped.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_RELU_QUANT_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_RELU_QUANT_H_

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {

// y = clamp(scale(x - in_zero) + out_zero) to [lo, hi].
struct RescaleMap {
  int32_t in_zero, out_zero, lo, hi;
  FixedFactor scale;
  int32_t operator()(int32_t q) const {
    return PlaceInt(MultiplyByFactor(q - in_zero, scale), out_zero, lo, hi);
  }
};

// float32, int8, uint8 and, where `int16`, int16.
Status PrepareRelu(PrepareContext& context, Activation activation, bool int16);
Status RunRelu(const RunContext& context, UnaryFn fn);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_RELU_QUANT_H_
