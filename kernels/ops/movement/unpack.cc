// UNPACK: one output per index of the axis, which disappears from the shape.
#include "kernels/ops/movement/split_rows.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParseUnpack(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);
  params->axis = options.Int(1, 0);
  return Status::Ok();
}

Status PrepareUnpack(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const TensorView& input = *context.input(0);
  const int rank = input.shape.rank();
  int axis = 0;
  TW_RETURN_IF_ERROR(NormalizeAxis(context, context.params().axis, rank, "axis", &axis));
  const int count = context.n_outputs();
  if (count < 1 || context.params().count != count || input.shape.dim(axis) != count) {
    return InvalidModel(
        "%s: num is %d, dimension %d of %s is unpacked and there are %d outputs; "
        "they must agree",
        context.Where().c_str(), context.params().count, axis, input.shape.ToString().c_str(),
        count);
  }
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    if (d != axis) shape.Append(input.shape.dim(d));
  }
  for (int k = 0; k < count; ++k) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, k));
    TW_RETURN_IF_ERROR(context.SetOutput(k, input.dtype, shape));
  }
  const int64_t inner = input.shape.Product(axis + 1, rank) * ElementBytes(input);
  PrepareSplitRows(context, true, 0, input.shape.Product(0, axis),
                   std::vector<int64_t>(static_cast<size_t>(count), inner));
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpUnpack;
const OpDef kOpUnpack = {OpCode::kUnpack, "UNPACK",       64, 6, ParseUnpack,
                         PrepareUnpack,   RunSplitRows<0>};

}  // namespace topwork
