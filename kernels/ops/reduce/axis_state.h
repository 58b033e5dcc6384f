// A tensor cut at the axis that input 1 names: what ARG_MAX, ARG_MIN and CUMSUM walk along.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_AXIS_STATE_H_
#define TOPWORK_KERNELS_OPS_REDUCE_AXIS_STATE_H_

#include "kernels/contract/kernel.h"

namespace topwork {

struct AxisState : OpState {
  int64_t outer = 1, axis = 1, inner = 1;  // input 0 as [outer, axis, inner]
  int dim = 0;                             // the axis' number, 0 or more
};

// Reads input 1, one integer, and makes the operator's state of it.
Result<AxisState*> NewAxisState(PrepareContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_AXIS_STATE_H_
