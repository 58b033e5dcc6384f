// What operators with weights share: inputs 0 data, 1 weights, 2 bias (optional), 3 residual.
//
// The residual exists through fusion only (OpParams::fused_residual): a tensor of the output's
// shape that is added after the bias and before the activation.
#ifndef TOPWORK_KERNELS_OPS_SHARED_WEIGHTED_H_
#define TOPWORK_KERNELS_OPS_SHARED_WEIGHTED_H_

#include <cstdint>

#include "kernels/contract/kernel.h"

namespace topwork {

// Number, presence and dtypes (float32) of inputs 0 to 3; one output.
Status CheckWeightedInputs(const PrepareContext& context);
// Bias (input i), where present, has one value per output channel.
Status CheckBias(const PrepareContext& context, int i, int64_t channels);
// The residual, where fused in, has the output's shape; the output may take its memory.
Status CheckResidual(PrepareContext* context, const Shape& output);
// Replaces output 0 by its tanh when that is the fused activation (no clamp can express it).
void ApplyFusedTanh(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_WEIGHTED_H_
