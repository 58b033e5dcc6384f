// The position of the largest or least element along one axis (input 1): ARG_MAX and ARG_MIN.
//
// float32, int32, int64 and the 8- and 16-bit integers, quantized or not (positions do not depend
// on a scale); the output is int32 or int64. A NaN wins only where it comes first.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_ARG_EXTREME_H_
#define TOPWORK_KERNELS_OPS_REDUCE_ARG_EXTREME_H_

#include "kernels/contract/kernel.h"

namespace topwork {

Status PrepareArgExtreme(PrepareContext& context);
Status RunArgExtreme(const RunContext& context, bool largest);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_ARG_EXTREME_H_
