// RecurrentKernels: 16-bit fixed-point arithmetic of quantized recurrent cells.
//
// Qi.f: an int16 with i bits before the point and f = 15 - i after it. Results are those of
// TFLite's portable kernels to the bit, on every instruction set. All functions allocate nothing,
// may run on any thread and accept outputs that are exactly one of their inputs.
#ifndef TOPWORK_KERNELS_CPU_RECURRENT_H_
#define TOPWORK_KERNELS_CPU_RECURRENT_H_

#include <cstdint>

#include "kernels/cpu/fixed_factor.h"

namespace topwork {

struct RecurrentKernels {
  // y = saturated(y + (x + bias) * factor), rounded as MultiplyByFactor does
  // (kernels/ops/shared/quant.h).
  void (*add_scaled)(const int32_t* x, const int32_t* bias, int64_t n, FixedFactor factor,
                     int16_t* y);
  // y = 1 / (1 + e^-x); x is Q3.12, y Q0.15.
  void (*logistic)(const int16_t* x, int16_t* y, int64_t n);
  // y = tanh(x); x has `integer_bits` (0 to 6) before the point, y is Q0.15.
  void (*tanh)(const int16_t* x, int16_t* y, int64_t n, int integer_bits);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_RECURRENT_H_
