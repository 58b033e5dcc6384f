// The block grid of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND.
#include "kernels/ops/movement/space_batch.h"

#include "kernels/ops/shared/indexing.h"

namespace topwork {

Status ReadSpaceBatch(PrepareContext& context, SpaceBatch* grid, int64_t bottom_right[2]) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 3, 4));
  const Shape& shape = context.input(0)->shape;
  const int n = shape.rank() - 2;
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt32}));
  if (context.input(1)->shape != Shape({n}) || context.input(2)->shape != Shape({n, 2})) {
    return InvalidModel("%s: %s and %s have shapes %s and %s, [%d] and [%d, 2] expected",
                        context.Where().c_str(), context.InputName(1).c_str(),
                        context.InputName(2).c_str(), context.input(1)->shape.ToString().c_str(),
                        context.input(2)->shape.ToString().c_str(), n, n);
  }
  std::vector<int64_t> blocks, borders;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &blocks));
  TW_RETURN_IF_ERROR(ReadInts(context, 2, &borders));
  for (int64_t block : blocks) {
    if (block >= 1) continue;
    return InvalidModel("%s: block size %lld is below 1", context.Where().c_str(),
                        static_cast<long long>(block));
  }
  for (int64_t border : borders) {
    TW_RETURN_IF_ERROR(CheckDim(context, border, "one of the paddings or crops"));
  }
  grid->block_h = blocks[0];
  grid->block_w = n > 1 ? blocks[1] : 1;
  grid->top = borders[0];
  grid->left = n > 1 ? borders[2] : 0;
  bottom_right[0] = borders[1];
  bottom_right[1] = n > 1 ? borders[3] : 0;
  grid->pixel_bytes = shape.back() * ElementBytes(*context.input(0));
  return Status::Ok();
}

Status SetSpaceBatchOutput(PrepareContext& context, int64_t batch, int64_t height, int64_t width) {
  const TensorView& input = *context.input(0);
  TW_RETURN_IF_ERROR(CheckDim(context, batch, "the output's batch"));
  TW_RETURN_IF_ERROR(CheckDim(context, height, "the output's height"));
  TW_RETURN_IF_ERROR(CheckDim(context, width, "the output's width"));
  Shape shape({static_cast<int32_t>(batch), static_cast<int32_t>(height)});
  if (input.shape.rank() == 4) shape.Append(static_cast<int32_t>(width));
  shape.Append(input.shape.back());
  return context.SetOutput(0, input.dtype, shape);
}

}  // namespace topwork
