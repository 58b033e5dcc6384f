// StableHLO's arithmetic of two tensors of one shape and type, as it was left in files: no
// broadcasting, no activation, integers wrap around.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_STABLEHLO_BINARY_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_STABLEHLO_BINARY_H_

#include "kernels/contract/kernel.h"

namespace topwork {

enum class StablehloFn : int { kAdd, kMultiply, kMaximum, kMinimum, kAnd, kShiftLeft };

// Input i is of the dtypes of sums, products and extremes: numbers of 8 to 64 bits, bool.
Status CheckStablehloNumber(const PrepareContext& context, int i);
// y = a fn b, element by element of such a dtype; y may be a or b.
void ApplyStablehlo(StablehloFn fn, DType dtype, const void* a, const void* b, void* y, int64_t n);

// kAnd: bool and integers; kShiftLeft: signed integers of up to 32 bits; the others: as above.
Status PrepareStablehloBinary(PrepareContext& context, StablehloFn fn);
Status RunStablehloBinary(const RunContext& context, StablehloFn fn);

template <StablehloFn kFn>
Status PrepareStablehlo(PrepareContext& context) {
  return PrepareStablehloBinary(context, kFn);
}
template <StablehloFn kFn>
Status RunStablehlo(const RunContext& context) {
  return RunStablehloBinary(context, kFn);
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_STABLEHLO_BINARY_H_
