// Broadcasting for every operator that combines tensors element by element.
//
// Shapes are aligned at their last dimension; a dimension of 1 is repeated. Prepare turns the
// shapes into a LoopNest with as few dimensions as possible; run walks it in two-dimensional tiles
// of a fixed size, in parallel. The same shapes give one long row, a scalar or a per-channel vector
// gives a two-dimensional nest, and anything else the smallest nest that describes it.
#ifndef TOPWORK_KERNELS_OPS_SHARED_BROADCAST_H_
#define TOPWORK_KERNELS_OPS_SHARED_BROADCAST_H_

#include <cstdint>
#include <initializer_list>

#include "kernels/contract/kernel.h"

namespace topwork {

// The shape that inputs [first, first + n) of the operator broadcast to; rank ≤ kMaxRank. Fails
// with the two tensors and the dimension that do not fit.
Status BroadcastShape(const PrepareContext& context, int first, int n, Shape* out);

constexpr int kMaxNestInputs = 3;

struct LoopNest {
  int n_inputs = 0;
  int rank = 0;                                    // ≥ 2 (the first dimension may be 1)
  int64_t dims[kMaxRank] = {};                     // innermost last
  int64_t strides[kMaxNestInputs][kMaxRank] = {};  // in elements; 0 where the input is repeated
  int64_t size = 0;                                // elements of the output
};

// Every shape must broadcast to `out`.
LoopNest MakeLoopNest(const Shape& out, std::initializer_list<Shape> inputs);

// Rows of n elements: the output's are at out + r * n + i, input k's at
// offset[k] + r * row[k] + i * step[k], with steps of 0 or 1.
struct NestTile {
  int thread = 0;  // that computes the tile
  int64_t rows = 0, n = 0;
  int64_t out = 0;
  int64_t offset[kMaxNestInputs] = {};
  int64_t row[kMaxNestInputs] = {};
  int step[kMaxNestInputs] = {};
};

// Elements of one parallel task.
constexpr int64_t kElementwiseGrain = 8192;

// Makes the nest of a CPU operator, and tells the context how many tasks it has.
void PlanNest(PrepareContext* context, const Shape& out, std::initializer_list<Shape> inputs,
              LoopNest* nest);

// Calls body for tiles that cover the output once; from several threads at a time.
void ForEachTile(const LoopNest& nest, ThreadPool* pool, FunctionRef<void(const NestTile&)> body);

// y = body(a, b) for every element of a tile; a, b and y are the operator's inputs 0 and 1 and its
// output 0.
template <typename A, typename B, typename Y, typename F>
void MapTile(const NestTile& t, const A* a, const B* b, Y* y, F&& body) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const A* pa = a + t.offset[0] + r * t.row[0];
    const B* pb = b + t.offset[1] + r * t.row[1];
    Y* py = y + t.out + r * t.n;
    if (t.step[0] == 1 && t.step[1] == 1) {  // the compiler's vectors
      for (int64_t i = 0; i < t.n; ++i) py[i] = static_cast<Y>(body(pa[i], pb[i]));
    } else {
      for (int64_t i = 0; i < t.n; ++i) {
        py[i] = static_cast<Y>(body(pa[i * t.step[0]], pb[i * t.step[1]]));
      }
    }
  }
}

struct NestState : OpState {
  LoopNest nest;
};

// Allows the output to overwrite each of inputs [first, first + n) that is not repeated and has the
// output's element size.
void AllowInPlaceWhereSafe(PrepareContext* context, int first, int n);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_BROADCAST_H_
