// AVERAGE_POOL_2D: the mean of the pixels under each window; padding is not counted. float32, int8,
// uint8 and int16 (halves away from zero).
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/pool.h"
#include "kernels/ops/quantized.h"

namespace topwork {
namespace {

constexpr int64_t kStrip = 256;  // channels summed at a time

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status RunFloat(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const ReduceRowsFunction sum = kernels.reduce_rows[static_cast<int>(ReduceFn::kSum)];
  const BinaryFunction divide = kernels.binary[static_cast<int>(BinaryFn::kDiv)];
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    float* out = static_cast<float*>(patch.out);
    for (int64_t c = 0; c < n; ++c) out[c] = 0.0f;
    for (int64_t y = 0; y < patch.rows; ++y) sum(out, patch.row<float>(y), patch.cols, n, n);
    const float count = static_cast<float>(patch.rows * patch.cols);
    BinaryTile tile;
    tile.a = tile.y = out;
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

Status RunQuantized(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const QuantElementwiseKernels& kernels = *context.cpu->elementwise->quantized;
  const int type = static_cast<int>(QuantTypeOf(context.in(0).dtype));
  const int64_t n = state.channels, bytes = state.element_bytes;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    const int32_t count = static_cast<int32_t>(patch.rows * patch.cols);
    for (int64_t c = 0; c < n; c += kStrip) {
      const int64_t strip = std::min(kStrip, n - c);
      int32_t sums[kStrip];
      std::fill(sums, sums + strip, 0);
      for (int64_t y = 0; y < patch.rows; ++y) {
        const uint8_t* row =
            static_cast<const uint8_t*>(patch.corner) + (y * patch.row_stride + c) * bytes;
        kernels.sum_rows[type](sums, row, patch.cols, n, strip);
      }
      kernels.divide[type](sums, static_cast<uint8_t*>(patch.out) + c * bytes, strip,
                           std::max(count, 1), state.range.lo, state.range.hi);
    }
  });
  return Status::Ok();
}

Status Run(const RunContext& context) {
  return IsFloat(context.in(0).dtype) ? RunFloat(context) : RunQuantized(context);
}

}  // namespace

extern const OpDef kOpAveragePool2D;
const OpDef kOpAveragePool2D = {
    OpCode::kAveragePool2d, "AVERAGE_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
