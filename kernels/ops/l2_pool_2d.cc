// L2_POOL_2D: the root of the mean square under each window; padding is not counted.
#include <algorithm>
#include <cmath>

#include "kernels/ops/pool.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PreparePool(&context, false, false));
  context.SetVariant("direct");
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const PoolState& state = context.get_state<PoolState>();
  const int64_t n = state.channels;
  ForEachPatch(context, [&](const PoolPatch& patch) {
    float* out = static_cast<float*>(patch.out);
    for (int64_t c = 0; c < n; ++c) out[c] = 0.0f;
    for (int64_t y = 0; y < patch.rows; ++y) {
      const float* in = patch.row<float>(y);
      for (int64_t x = 0; x < patch.cols; ++x, in += n) {
        for (int64_t c = 0; c < n; ++c) out[c] += in[c] * in[c];
      }
    }
    const float count = static_cast<float>(patch.rows * patch.cols);
    for (int64_t c = 0; c < n; ++c) {
      const float root = std::sqrt(out[c] / count);
      out[c] = std::min(std::max(root, state.lo), state.hi);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpL2Pool2D;
const OpDef kOpL2Pool2D = {OpCode::kL2Pool2d, "L2_POOL_2D", 5, 1, ParsePool, Prepare, Run};

}  // namespace topwork
