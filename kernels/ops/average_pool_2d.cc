// AVERAGE_POOL_2D: the mean of the pixels under each window; padding is not counted.
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/pool.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const ReduceRowsFunction sum = kernels.reduce_rows[static_cast<int>(ReduceFn::kSum)];
  const BinaryFunction divide = kernels.binary[static_cast<int>(BinaryFn::kDiv)];
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    for (int64_t c = 0; c < n; ++c) patch.out[c] = 0.0f;
    for (int64_t y = 0; y < patch.rows; ++y) {
      sum(patch.out, patch.corner + y * patch.row_stride, patch.cols, n, n);
    }
    const float count = static_cast<float>(patch.rows * patch.cols);
    BinaryTile tile;
    tile.a = tile.y = patch.out;
    tile.b = &count;
    tile.rows = 1;
    tile.n = n;
    tile.b_step = 0;
    tile.lo = state.lo;
    tile.hi = state.hi;
    divide(tile);
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpAveragePool2D;
const OpDef kOpAveragePool2D = {
    OpCode::kAveragePool2d, "AVERAGE_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
