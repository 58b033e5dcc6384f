// LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT: bool tensors, one byte an element. Any byte but 0 counts as
// true; results are 0 or 1.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_LOGICAL_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_LOGICAL_H_

#include "kernels/contract/functions.h"
#include "kernels/contract/kernel.h"

namespace topwork {

Status PrepareLogicalBinary(PrepareContext& context);
Status RunLogicalBinary(const RunContext& context, LogicalFn fn);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_LOGICAL_H_
