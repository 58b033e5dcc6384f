// LOGISTIC and TANH of int16, by TFLite's arithmetic. The input is scaled to 1 / 12288 (a range of
// ±10.7 for the table). A table of 256 values of the logistic function, 1 / 24 apart, is read with
// straight lines in between. The output's scale is 1 / 32768.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_SIGMOID_INT16_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_SIGMOID_INT16_H_

#include "kernels/ops/elementwise/unary_quant.h"

namespace topwork {

struct SigmoidMap {
  bool tanh = false;
  int32_t multiplier = 0, shift = 0;
  uint16_t table[256];  // about 65536 / (1 + e^(-i / 24))
  int32_t operator()(int32_t q) const;
};

// Fills the context's state for RunMap<SigmoidMap>; the tensors are int16.
Status PrepareSigmoidInt16(PrepareContext& context, bool tanh);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_SIGMOID_INT16_H_
