// MAX_POOL_2D: the largest of the pixels under each window; padding counts as -infinity.
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/pool.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const ReduceRowsFunction largest = kernels.reduce_rows[static_cast<int>(ReduceFn::kMax)];
  const BinaryFunction maximum = kernels.binary[static_cast<int>(BinaryFn::kMaximum)];
  const bool clamp = context.params->activation != Activation::kNone;
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    for (int64_t c = 0; c < n; ++c) patch.out[c] = -std::numeric_limits<float>::infinity();
    for (int64_t y = 0; y < patch.rows; ++y) {
      largest(patch.out, patch.corner + y * patch.row_stride, patch.cols, n, n);
    }
    if (!clamp) return;
    BinaryTile tile;
    tile.a = tile.y = patch.out;
    tile.b = &state.lo;
    tile.rows = 1;
    tile.n = n;
    tile.b_step = 0;
    tile.lo = state.lo;
    tile.hi = state.hi;
    maximum(tile);
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpMaxPool2D;
const OpDef kOpMaxPool2D = {OpCode::kMaxPool2d, "MAX_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
