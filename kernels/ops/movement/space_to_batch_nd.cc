// SPACE_TO_BATCH_ND: pads the image and deals its pixels out to block_h × block_w batch entries.
// The padding is the zero point (0 where not quantized). See space_batch.h.
#include "kernels/ops/movement/space_batch.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

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
    return InvalidModel("%s: the blocks of %lld x %lld do not divide the padded size %lld x %lld",
                        context.Where().c_str(), static_cast<long long>(grid.block_h),
                        static_cast<long long>(grid.block_w), static_cast<long long>(padded_h),
                        static_cast<long long>(padded_w));
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

}  // namespace

extern const OpDef kOpSpaceToBatchNd;
const OpDef kOpSpaceToBatchNd = {OpCode::kSpaceToBatchNd, "SPACE_TO_BATCH_ND", 25, 4, nullptr,
                                 PrepareSpaceToBatchNd,   RunSpaceToBatchNd};

}  // namespace topwork
