// ONE_HOT: a new dimension of size `depth` (input 1) at `axis`, with on_value (input 2) at the
// index that input 0 names and off_value (input 3) elsewhere; an index outside [0, depth) has no
// on_value.
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status ParseOneHot(const OptionsView& options, OpParams* params) {
  params->axis = options.Int(0, 0);
  return Status::Ok();
}

Status ResolveAxis(const PrepareContext& context, int rank, int* axis) {
  *axis = context.params().axis == -1 ? rank : context.params().axis;
  if (*axis >= 0 && *axis <= rank) return Status::Ok();
  return InvalidModel("%s: axis %d is neither -1 nor in [0, %d]", context.Where().c_str(),
                      context.params().axis, rank);
}

Status PrepareOneHot(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(4, 4));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(CheckMovable(context, 2));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 2, 3));
  for (int i = 2; i < 4; ++i) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, i, 0));
    if (context.input(i)->shape.NumElements() == 1) continue;
    return InvalidModel("%s: %s has shape %s, one value expected", context.Where().c_str(),
                        context.InputName(i).c_str(), context.input(i)->shape.ToString().c_str());
  }
  int64_t depth = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &depth));
  TW_RETURN_IF_ERROR(CheckDim(context, depth, "depth"));
  const Shape& indices = context.input(0)->shape;
  int axis = 0;
  TW_RETURN_IF_ERROR(ResolveAxis(context, indices.rank(), &axis));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, indices.rank() + 1));
  Shape shape;
  for (int d = 0; d <= indices.rank(); ++d) {
    shape.Append(d == axis ? static_cast<int32_t>(depth) : indices.dim(d < axis ? d : d - 1));
  }
  return context.SetOutput(0, context.input(2)->dtype, shape);
}

Status RunOneHot(const RunContext& context) {
  const TensorView& indices = context.in(0);
  const TensorView& output = context.out(0);
  if (output.bytes() == 0) return Status::Ok();
  const int rank = indices.shape.rank();
  const int axis = context.params->axis == -1 ? rank : context.params->axis;
  const int64_t depth = output.shape.dim(axis);
  const int64_t inner = indices.shape.Product(axis, rank);
  const int64_t bytes = ElementBytes(output);
  uint8_t* out = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, indices.shape.Product(0, axis), depth * inner * bytes,
               [&](int64_t begin, int64_t end) {
                 FillElements(out + begin * depth * inner * bytes, (end - begin) * depth * inner,
                              context.in(3).data, bytes);
                 for (int64_t k = begin * inner; k < end * inner; ++k) {
                   const int64_t index = IntAt(indices, k);
                   if (index < 0 || index >= depth) continue;
                   const int64_t at = (k / inner * depth + index) * inner + k % inner;
                   CopyBytes(out + at * bytes, context.in(2).data, bytes);
                 }
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpOneHot;
const OpDef kOpOneHot = {OpCode::kOneHot, "ONE_HOT", 61, 1, ParseOneHot, PrepareOneHot, RunOneHot};

}  // namespace topwork
