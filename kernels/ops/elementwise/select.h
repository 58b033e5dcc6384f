// y = condition ? a : b, element by element: what SELECT and SELECT_V2 share. Values are copied as
// bytes, so every type of 1, 2, 4 or 8 bytes works.
#ifndef TOPWORK_KERNELS_OPS_ELEMENTWISE_SELECT_H_
#define TOPWORK_KERNELS_OPS_ELEMENTWISE_SELECT_H_

#include "kernels/contract/kernel.h"

namespace topwork {

// Checks counts and types of (condition, a, b).
Status CheckSelect(const PrepareContext& context);
// One condition chooses one element, and the file declares one element. LiteRT then keeps the
// file's shape, whatever the ranks of the inputs; *shape is that shape.
bool IsSingleChoice(const PrepareContext& context, Shape* shape);
// Sets the output and the loop nest; `condition` is the condition's shape as it broadcasts to out.
Status FinishSelect(PrepareContext* context, const Shape& condition, const Shape& out);
Status RunSelect(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_ELEMENTWISE_SELECT_H_
