// PACK: joins values_count inputs of one shape along a new axis.
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParsePack(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);
  params->axis = options.Int(1, 0);
  return Status::Ok();
}

Status PreparePack(PrepareContext& context) {
  const int count = context.n_inputs();
  if (count < 1 || context.params().count != count) {
    return InvalidModel("%s: values_count is %d but there are %d inputs", context.Where().c_str(),
                        context.params().count, count);
  }
  TW_RETURN_IF_ERROR(context.CheckInputs(count, count));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const TensorView& first = *context.input(0);
  const int rank = first.shape.rank();
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, context.params().axis, rank + 1, "axis", &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, rank + 1));
  for (int k = 0; k < count; ++k) {
    TW_RETURN_IF_ERROR(CheckSameDType(context, 0, k));
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, k, 0));
    if (context.input(k)->shape != first.shape) {
      return InvalidModel("%s: %s has shape %s but %s has %s; they must agree",
                          context.Where().c_str(), context.InputName(k).c_str(),
                          context.input(k)->shape.ToString().c_str(), context.InputName(0).c_str(),
                          first.shape.ToString().c_str());
    }
  }
  Shape shape;
  for (int d = 0; d <= rank; ++d) {
    shape.Append(d == axis ? count : first.shape.dim(d < axis ? d : d - 1));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, first.dtype, shape));
  const int64_t inner = first.shape.Product(axis, rank) * ElementBytes(first);
  PrepareSplitRows(context, false, 0, first.shape.Product(0, axis),
                   std::vector<int64_t>(static_cast<size_t>(count), inner));
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpPack;
const OpDef kOpPack = {OpCode::kPack, "PACK", 59, 5, ParsePack, PreparePack, RunJoinRows};

}  // namespace topwork
