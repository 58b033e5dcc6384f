// BATCH_TO_SPACE_ND: collects the pixels of an image from block_h × block_w batch entries and crops
// it; undoes SPACE_TO_BATCH_ND. See space_batch.h.
#include "kernels/ops/movement/space_batch.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status PrepareBatchToSpaceNd(PrepareContext& context) {
  SpaceBatch grid;
  int64_t border[2] = {};
  TW_RETURN_IF_ERROR(ReadSpaceBatch(context, &grid, border));
  const Shape& shape = context.input(0)->shape;
  const int64_t blocks = grid.block_h * grid.block_w;
  if (shape.dim(0) % blocks != 0) {
    return InvalidModel("%s: a batch of %d does not divide into blocks of %lld x %lld",
                        context.Where().c_str(), shape.dim(0), static_cast<long long>(grid.block_h),
                        static_cast<long long>(grid.block_w));
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

extern const OpDef kOpBatchToSpaceNd;
const OpDef kOpBatchToSpaceNd = {OpCode::kBatchToSpaceNd, "BATCH_TO_SPACE_ND", 24, 4, nullptr,
                                 PrepareBatchToSpaceNd,   RunBatchToSpaceNd};

}  // namespace topwork
