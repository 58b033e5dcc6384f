// Layer normalization of 16-bit gates in an integer LSTM.
#ifndef TOPWORK_KERNELS_OPS_RECURRENT_LSTM_NORM_H_
#define TOPWORK_KERNELS_OPS_RECURRENT_LSTM_NORM_H_

#include <cstdint>

#include "kernels/cpu/fixed_factor.h"

namespace topwork {

// x = (x − mean) / deviation * weights + bias in Q3.12, in place, where weights have the scale
// `factor` and biases its 2^-10; a variance below 1 counts as `least_variance`. TFLite's arithmetic
// to the bit.
void NormalizeGate(const int16_t* weights, const int32_t* bias, FixedFactor factor,
                   int32_t least_variance, int64_t n, int16_t* x);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_RECURRENT_LSTM_NORM_H_
