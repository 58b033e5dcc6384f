// MAX_POOL_2D: the largest of the pixels under each window; padding counts as the least number.
// float32, int8, uint8 and int16.
#include <algorithm>
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "kernels/ops/pool.h"
#include "kernels/ops/quantized.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, true, true));
  context.SetVariant("direct");
  return Status::Ok();
}

Status RunFloat(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const ElementwiseKernels& kernels = *context.cpu->elementwise;
  const ReduceRowsFunction largest = kernels.reduce_rows[static_cast<int>(ReduceFn::kMax)];
  const BinaryFunction maximum = kernels.binary[static_cast<int>(BinaryFn::kMaximum)];
  const bool clamp = context.params->activation != Activation::kNone;
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    float* out = static_cast<float*>(patch.out);
    for (int64_t c = 0; c < n; ++c) out[c] = -std::numeric_limits<float>::infinity();
    for (int64_t y = 0; y < patch.rows; ++y) largest(out, patch.row<float>(y), patch.cols, n, n);
    if (!clamp) return;
    BinaryTile tile;
    tile.a = tile.y = out;
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

template <typename T>
Status RunQuantized(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const auto largest = context.cpu->elementwise->quantized
                           ->max_rows[static_cast<int>(QuantTypeOf(context.in(0).dtype))];
  const T lo = static_cast<T>(state.range.lo), hi = static_cast<T>(state.range.hi);
  const bool clamp = context.params->activation != Activation::kNone;
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    T* out = static_cast<T*>(patch.out);
    std::fill(out, out + n, lo);
    for (int64_t y = 0; y < patch.rows; ++y) largest(out, patch.row<T>(y), patch.cols, n, n);
    for (int64_t c = 0; clamp && c < n; ++c) out[c] = std::min(out[c], hi);
  });
  return Status::Ok();
}

Status Run(const RunContext& context) {
  switch (context.in(0).dtype) {
    case DType::kInt8:
      return RunQuantized<int8_t>(context);
    case DType::kUInt8:
      return RunQuantized<uint8_t>(context);
    case DType::kInt16:
      return RunQuantized<int16_t>(context);
    default:
      return RunFloat(context);
  }
}

}  // namespace

extern const OpDef kOpMaxPool2D;
const OpDef kOpMaxPool2D = {OpCode::kMaxPool2d, "MAX_POOL_2D", 5, 3, ParsePool, Prepare, Run};

}  // namespace topwork
