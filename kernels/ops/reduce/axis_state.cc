// NewAxisState: the axis, and how many elements lie outside, along and inside it.
#include "kernels/ops/reduce/axis_state.h"

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Result<AxisState*> NewAxisState(PrepareContext& context) {
  const Shape& shape = context.input(0)->shape;
  int64_t value = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &value));
  int dim = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, value, shape.rank(), "axis", &dim));
  AxisState* state = context.NewState<AxisState>();
  state->outer = shape.Product(0, dim);
  state->axis = shape[dim];
  state->inner = shape.Product(dim + 1, shape.rank());
  state->dim = dim;
  return state;
}

}  // namespace topwork
