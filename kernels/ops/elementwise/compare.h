// Comparisons of two tensors with broadcasting: EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER,
// GREATER_EQUAL. The result is bool (one byte, 0 or 1). A NaN equals nothing and has no order.
// Quantized operands are compared as multiples of 1/256, as TFLite does.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPARE_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPARE_H_

#include "kernels/contract/functions.h"
#include "kernels/contract/kernel.h"

namespace topwork {

// Numbers only (order); numbers and bool (equality).
Status PrepareCompareOrder(PrepareContext& context);
Status PrepareCompareEqual(PrepareContext& context);

Status RunCompare(const RunContext& context, CompareFn fn);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_COMPARE_H_
