// SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION of int8, uint8 and int16 rows.
//
// 8 bits: e^x comes from a table over the distance to the row's largest value, sums and divisions
// are float; answers are within 1 of TFLite's fixed-point ones. 16 bits (SOFTMAX alone): TFLite's
// own two tables and its integer arithmetic, to the bit.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_QUANT_H_
#define TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_QUANT_H_

#include "kernels/contract/kernel.h"

namespace topwork {

// True where input 0 is present and quantized: the functions below apply.
bool IsRowwiseQuant(const PrepareContext& context);

// int8 to int8 or int16, uint8 to uint8 or int16, int16 to int16.
Status PrepareSoftmaxQuant(PrepareContext& context);
Status RunSoftmaxQuant(const RunContext& context);

// int8 and uint8.
Status PrepareLogSoftmaxQuant(PrepareContext& context);
Status RunLogSoftmaxQuant(const RunContext& context);
Status PrepareL2NormalizationQuant(PrepareContext& context);
Status RunL2NormalizationQuant(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_ROWWISE_QUANT_H_
