// StableHLO's arithmetic of two tensors of one shape and type, as it was left in files: no
// broadcasting, no activation, integers wrap around.
#ifndef TOPWORK_KERNELS_OPS_STABLEHLO_BINARY_H_
#define TOPWORK_KERNELS_OPS_STABLEHLO_BINARY_H_

#include "kernels/kernel.h"

namespace topwork {

enum class StablehloFn : int { kAdd, kMultiply, kMaximum, kMinimum, kAnd, kShiftLeft };

// Any number of 8 to 64 bits but float16, and bool; kAnd and kShiftLeft: bool and integers.
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

#endif  // TOPWORK_KERNELS_OPS_STABLEHLO_BINARY_H_
