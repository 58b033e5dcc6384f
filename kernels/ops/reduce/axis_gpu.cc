// ARG_MAX, ARG_MIN and CUMSUM on a GPU (axis.cl).
#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/shared/fold_groups.h"

namespace topwork {
namespace {

// Input 0 seen from the axis that input 1 names.
struct AxisNest {
  int64_t outer = 1, steps = 1, inner = 1;
};

Status ReadAxis(const GpuContext& context, AxisNest* nest) {
  const Shape& in = context.input(0)->shape;
  if (!context.is_constant(1)) return Unsupported("its axis is not constant");
  int32_t axis = 0;
  TW_RETURN_IF_ERROR(ReadInts32(*context.input(1), &axis));
  if (axis < 0) axis += in.rank();
  *nest = {in.Product(0, axis), in.dim(axis), in.Product(axis + 1, in.rank())};
  return Status::Ok();
}

}  // namespace

Status PlanArgExtreme(GpuContext& context, bool largest) {
  AxisNest nest;
  TW_RETURN_IF_ERROR(ReadAxis(context, &nest));
  const FoldGroups groups = FoldGroupsOf(nest.inner, nest.outer, nest.steps);
  const int from = context.In(0), to = context.Out(0);
  if (groups.block > 0) {
    context.AddGroups("axis", {"arg_extreme_group", "group"},
                      {BufferArg(from), BufferArg(to), IntArg(largest), IntArg(nest.steps),
                       IntArg(nest.inner), IntArg(groups.block)},
                      groups.local, groups.n, nest.outer);
    context.TakesSmallerGroups();
    context.TakesSteps(groups.steps, 1);
  } else {
    context.Add("axis", "arg_extreme",
                {BufferArg(from), BufferArg(to), IntArg(largest), IntArg(nest.outer),
                 IntArg(nest.steps), IntArg(nest.inner)},
                nest.inner, nest.outer);
    context.TakesSteps(nest.steps, 1);
  }
  context.TakesFormat(context.input_format(0));
  return Status::Ok();
}

Status PlanCumsum(GpuContext& context) {
  const OpParams& params = context.params();
  AxisNest nest;
  TW_RETURN_IF_ERROR(ReadAxis(context, &nest));
  context.Add("axis", "cumsum",
              {BufferArg(context.In(0)), BufferArg(context.Out(0)), IntArg(params.exclusive),
               IntArg(params.reverse), IntArg(nest.outer), IntArg(nest.steps), IntArg(nest.inner)},
              nest.inner, nest.outer);
  context.TakesSteps(nest.steps, 1);
  return Status::Ok();
}

}  // namespace topwork
