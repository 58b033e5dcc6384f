// DYNAMIC_UPDATE_SLICE: input 0 with the box at the start indices (input 2) replaced by input 1.
//
// The start is clamped so that the box lies inside, as TFLite does.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status PrepareDynamicUpdateSlice(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0, {DType::kInt4}));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, 1));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32, DType::kInt64}));
  const Shape& shape = context.input(0)->shape;
  const Shape& update = context.input(1)->shape;
  bool fits = shape.rank() == update.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = update.dim(d) <= shape.dim(d);
  if (!fits) {
    return InvalidModel("%s: an update of shape %s does not fit into %s", context.Where().c_str(),
                        update.ToString().c_str(), shape.ToString().c_str());
  }
  if (context.input(2)->shape != Shape({shape.rank()})) {
    return InvalidModel("%s: %s has shape %s, [%d] expected", context.Where().c_str(),
                        context.InputName(2).c_str(), context.input(2)->shape.ToString().c_str(),
                        shape.rank());
  }
  context.AllowInPlace(0, 0);
  return RequestWidening(context, context.SetOutput(0, context.input(0)->dtype, shape));
}

Status UpdateBytes(const RunContext& context) {
  const TensorView& update = context.in(1);
  const TensorView& output = context.out(0);
  TW_RETURN_IF_ERROR(RunByteCopy(context));
  int64_t dst[kMaxRank] = {}, src[kMaxRank] = {};
  ContiguousStrides(output.shape, ElementBytes(output), dst);
  ContiguousStrides(update.shape, ElementBytes(output), src);
  int64_t offset = 0;
  StridedCopy copy(ElementBytes(output));
  for (int d = 0; d < output.shape.rank(); ++d) {
    const int64_t last = output.shape.dim(d) - update.shape.dim(d);
    offset += std::min(std::max<int64_t>(IntAt(context.in(2), d), 0), last) * dst[d];
    copy.AddDim(update.shape.dim(d), src[d], dst[d]);
  }
  copy.set_dst_offset(offset);
  copy.Finish();
  copy.Run(update.data, output.data, context.pool);
  return Status::Ok();
}

Status RunDynamicUpdateSlice(const RunContext& context) { return RunWidened(context, UpdateBytes); }

}  // namespace

extern const OpDef kOpDynamicUpdateSlice;
const OpDef kOpDynamicUpdateSlice = {
    OpCode::kDynamicUpdateSlice, "DYNAMIC_UPDATE_SLICE", 117, 6, nullptr,
    PrepareDynamicUpdateSlice,   RunDynamicUpdateSlice};

}  // namespace topwork
