// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND (see space_batch.h).
#include "kernels/ops/movement/space_batch.h"

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {

// The block grid of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND.

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
    return context.Invalid("{} and {} have shapes {} and {}, [{}] and [{}, 2] expected",
                           context.InputName(1), context.InputName(2),
                           context.input(1)->shape.ToString(), context.input(2)->shape.ToString(),
                           n, n);
  }
  std::vector<int64_t> blocks, borders;
  TW_RETURN_IF_ERROR(ReadInts(context, 1, &blocks));
  TW_RETURN_IF_ERROR(ReadInts(context, 2, &borders));
  for (int64_t block : blocks) {
    if (block >= 1) continue;
    return context.Invalid("block size {} is below 1", block);
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

namespace {

// SPACE_TO_BATCH_ND: pads the image and deals its pixels out to block_h × block_w batch entries.
// The padding is the zero point (0 where not quantized). See space_batch.h.

Status PrepareSpaceToBatchNd(PrepareContext& context) {
  SpaceBatch grid;
  int64_t border[2] = {};
  TW_RETURN_IF_ERROR(ReadSpaceBatch(context, &grid, border));
  const Shape& shape = context.input(0)->shape;
  grid.batch = shape.dim(0);
  grid.height = shape.dim(1);
  grid.width = shape.rank() == 4 ? shape.dim(2) : 1;
  const int64_t padded_h = grid.top + grid.height + border[0];
  const int64_t padded_w = grid.left + grid.width + border[1];
  if (padded_h % grid.block_h != 0 || padded_w % grid.block_w != 0) {
    return context.Invalid("the blocks of {} x {} do not divide the padded size {} x {}",
                           grid.block_h, grid.block_w, padded_h, padded_w);
  }
  grid.grid_h = padded_h / grid.block_h;
  grid.grid_w = padded_w / grid.block_w;
  int64_t batch = grid.block_h * grid.block_w;  // two values of 31 bits
  if (MulOverflow(batch, grid.batch, &batch)) batch = -1;
  TW_RETURN_IF_ERROR(SetSpaceBatchOutput(context, batch, grid.grid_h, grid.grid_w));
  *context.NewState<SpaceBatch>() = grid;
  return Status::Ok();
}

Status RunSpaceToBatchNd(const RunContext& context) {
  const SpaceBatch& grid = context.get_state<SpaceBatch>();
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t element = ElementBytes(context.out(0));
  const int64_t zero_point = ZeroPoint(context.out(0));
  const uint8_t zero[16] = {static_cast<uint8_t>(zero_point),
                            static_cast<uint8_t>(zero_point >> 8)};
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  const int64_t pixel = grid.pixel_bytes;
  const auto row = [&](int64_t r) {
    const int64_t entry = r / grid.grid_h;
    const int64_t n = entry % grid.batch;
    const int64_t block = entry / grid.batch;
    const int64_t h = r % grid.grid_h * grid.block_h + block / grid.block_w - grid.top;
    uint8_t* to = out + r * grid.grid_w * pixel;
    for (int64_t g = 0; g < grid.grid_w; ++g, to += pixel) {
      const int64_t w = g * grid.block_w + block % grid.block_w - grid.left;
      if (h < 0 || h >= grid.height || w < 0 || w >= grid.width) {
        FillElements(to, pixel / element, zero, element);
      } else {
        CopyBytes(to, in + ((n * grid.height + h) * grid.width + w) * pixel, pixel);
      }
    }
  };
  ParallelRows(context.pool, context.out(0).shape.dim(0) * grid.grid_h, grid.grid_w * pixel,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) row(r);
               });
  return Status::Ok();
}

// BATCH_TO_SPACE_ND: collects the pixels of an image from block_h × block_w batch entries and crops
// it; undoes SPACE_TO_BATCH_ND. See space_batch.h.

Status PrepareBatchToSpaceNd(PrepareContext& context) {
  SpaceBatch grid;
  int64_t border[2] = {};
  TW_RETURN_IF_ERROR(ReadSpaceBatch(context, &grid, border));
  const Shape& shape = context.input(0)->shape;
  const int64_t blocks = grid.block_h * grid.block_w;
  if (shape.dim(0) % blocks != 0) {
    return context.Invalid("a batch of {} does not divide into blocks of {} x {}", shape.dim(0),
                           grid.block_h, grid.block_w);
  }
  grid.batch = shape.dim(0) / blocks;
  grid.grid_h = shape.dim(1);
  grid.grid_w = shape.rank() == 4 ? shape.dim(2) : 1;
  grid.height = grid.grid_h * grid.block_h - grid.top - border[0];
  grid.width = grid.grid_w * grid.block_w - grid.left - border[1];
  TW_RETURN_IF_ERROR(SetSpaceBatchOutput(context, grid.batch, grid.height, grid.width));
  *context.NewState<SpaceBatch>() = grid;
  return Status::Ok();
}

Status RunBatchToSpaceNd(const RunContext& context) {
  const SpaceBatch& grid = context.get_state<SpaceBatch>();
  if (context.out(0).bytes() == 0) return Status::Ok();
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  const int64_t pixel = grid.pixel_bytes;
  const auto row = [&](int64_t r) {
    const int64_t n = r / grid.height;
    const int64_t h = r % grid.height + grid.top;
    uint8_t* to = out + r * grid.width * pixel;
    for (int64_t x = 0; x < grid.width; ++x, to += pixel) {
      const int64_t w = x + grid.left;
      const int64_t block = h % grid.block_h * grid.block_w + w % grid.block_w;
      const int64_t from =
          ((block * grid.batch + n) * grid.grid_h + h / grid.block_h) * grid.grid_w +
          w / grid.block_w;
      CopyBytes(to, in + from * pixel, pixel);
    }
  };
  ParallelRows(context.pool, grid.batch * grid.height, grid.width * pixel,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) row(r);
               });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSpaceToBatchNd)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .Options(OptionsType::kSpaceToBatchND)
        .Cpu(PrepareSpaceToBatchNd, RunSpaceToBatchNd)
        .Gpu(PlanSpaceBatch<true>, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kBatchToSpaceNd)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .Options(OptionsType::kBatchToSpaceND)
        .Cpu(PrepareBatchToSpaceNd, RunBatchToSpaceNd)
        .Gpu(PlanSpaceBatch<false>, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> SpaceBatchOps() { return Selected<kOps>(); }

}  // namespace topwork
