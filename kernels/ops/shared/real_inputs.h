// Inputs of the custom operators that compute with real numbers alone, and matrices among them.
#ifndef TOPWORK_KERNELS_OPS_SHARED_REAL_INPUTS_H_
#define TOPWORK_KERNELS_OPS_SHARED_REAL_INPUTS_H_

#include "kernels/contract/kernel.h"

namespace topwork {

// There are as many inputs and outputs, and all inputs are float32, or where `bytes` uint8 with a
// scale; the first has that rank.
Status CheckReals(const PrepareContext& context, int n_inputs, int n_outputs, int min_rank,
                  int max_rank, bool bytes = false);

// Input 1 is a 4x4 matrix for each of n items, or one for all.
Status CheckMatrices(const PrepareContext& context, int32_t n);
const float* MatrixOf(const RunContext& context, int64_t item);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_REAL_INPUTS_H_
