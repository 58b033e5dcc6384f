// Sums, products, extremes or logic over windows that slide over a tensor in every dimension: what
// REDUCE_WINDOW and STABLEHLO_REDUCE_WINDOW have in common. Integers wrap around.
#ifndef TOPWORK_KERNELS_OPS_REDUCE_REDUCE_WINDOW_H_
#define TOPWORK_KERNELS_OPS_REDUCE_REDUCE_WINDOW_H_

#include <vector>

#include "kernels/contract/kernel.h"

namespace topwork {

// ReduceWindowFunction of the format.
enum class WindowFn : uint8_t {
  kAdd = 1,
  kMul = 2,
  kMinimum = 3,
  kMaximum = 4,
  kAll = 5,
  kAny = 6
};

struct Windows {
  WindowFn fn = WindowFn::kAdd;
  int rank = 0;
  int64_t window[kMaxRank] = {};
  int64_t step[kMaxRank] = {};      // in input elements, to the next position
  int64_t tap_step[kMaxRank] = {};  // to the next element of the window
};

// Checks inputs 0 (data) and 1 (initial value); `in` is the shape that the windows slide over.
// Sizes, strides and dilations of the windows: a positive number for each dimension, `name` says in
// a message whose they are. Sets output 0.
Status PrepareWindows(PrepareContext& context, const Shape& in, const char* const names[3],
                      const std::vector<int64_t> lists[3], Windows* windows);
// From `data` into output 0.
Status RunWindows(const RunContext& context, const Windows& windows, const void* data);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_REDUCE_REDUCE_WINDOW_H_
