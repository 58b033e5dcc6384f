// Products for gradients. X and the transposed dY are packed a block of rows at a time, so that the
// working memory does not grow with the batch; blocks follow each other in the order of rows.
#include "kernels/train/backward_product.h"

#include <algorithm>
#include <limits>

#include "kernels/train/backward.h"

namespace topwork {
namespace {

constexpr int64_t kRowBlock = 512;
constexpr int64_t kTile = 16;          // of a transposition
constexpr int64_t kUnitsPerTask = 64;  // of a transposition
constexpr int64_t kMadeRowsPerTask = 32;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t BlockRows(const WeightProduct& product) { return std::min(product.n_rows, kRowBlock); }

struct WeightScratch {
  size_t delta = 0, x = 0, packed = 0, bytes = 0;
};

WeightScratch Layout(const GemmKernels& kernels, const WeightProduct& product, bool made) {
  const int64_t rows = BlockRows(product);
  WeightScratch scratch;
  scratch.x = ScratchLayout::BlockBytes(product.n_units * rows);
  scratch.packed = scratch.x + (made ? ScratchLayout::BlockBytes(product.n_depths * rows) : 0);
  scratch.bytes =
      scratch.packed + ScratchLayout::BlockBytes(kernels.packed_size(product.n_depths, rows));
  return scratch;
}

// to[u, r] = from[r, u] for units [begin, end).
void Transpose(const float* from, int64_t from_stride, int64_t n_rows, int64_t begin, int64_t end,
               float* to) {
  for (int64_t u0 = begin; u0 < end; u0 += kTile) {
    const int64_t u1 = std::min(end, u0 + kTile);
    for (int64_t r0 = 0; r0 < n_rows; r0 += kTile) {
      const int64_t r1 = std::min(n_rows, r0 + kTile);
      for (int64_t u = u0; u < u1; ++u) {
        for (int64_t r = r0; r < r1; ++r) to[u * n_rows + r] = from[r * from_stride + u];
      }
    }
  }
}

// The rows of one block: their transposed dY, and X where it is made.
void PrepareBlock(const WeightProduct& p, int64_t first, int64_t rows, float* delta, float* x,
                  ThreadPool* pool) {
  const int64_t transpositions = (p.n_units + kUnitsPerTask - 1) / kUnitsPerTask;
  const int64_t makes = p.make == nullptr ? 0 : (rows + kMadeRowsPerTask - 1) / kMadeRowsPerTask;
  pool->ParallelFor(transpositions + makes, [&](int64_t task, int) {
    if (task < transpositions) {
      const int64_t begin = task * kUnitsPerTask;
      Transpose(p.delta + first * p.delta_stride, p.delta_stride, rows, begin,
                std::min(p.n_units, begin + kUnitsPerTask), delta);
    } else {
      const int64_t begin = (task - transpositions) * kMadeRowsPerTask;
      const int64_t end = std::min(rows, begin + kMadeRowsPerTask);
      (*p.make)(first + begin, first + end, x + begin * p.n_depths);
    }
  });
}

}  // namespace

size_t WeightProductScratch(const GemmKernels& kernels, const WeightProduct& product, bool made) {
  return Layout(kernels, product, made).bytes;
}

void RunWeightProduct(const CpuKernels& cpu, const WeightProduct& p, uint8_t* scratch,
                      ThreadPool* pool) {
  const GemmKernels& kernels = *cpu.gemm;
  const WeightScratch layout = Layout(kernels, p, p.make != nullptr);
  float* delta = reinterpret_cast<float*>(scratch + layout.delta);
  float* made = reinterpret_cast<float*>(scratch + layout.x);
  float* packed = reinterpret_cast<float*>(scratch + layout.packed);
  for (int64_t first = 0; first < p.n_rows; first += kRowBlock) {
    const int64_t rows = std::min(kRowBlock, p.n_rows - first);
    PrepareBlock(p, first, rows, delta, made, pool);
    GemmWeights x;
    x.data = p.make != nullptr ? made : p.x + first * p.x_stride;
    x.n = p.n_depths;
    x.stride_n = 1;
    x.k = x.depth[2] = rows;
    x.stride_k[2] = p.make != nullptr ? p.n_depths : p.x_stride;
    GemmTask whole;
    whole.a = delta;
    whole.lda = rows;
    whole.packed = packed;
    whole.c = p.out;
    whole.ldc = whole.ldr = p.n_depths;
    whole.residual = p.accumulate || first > 0 ? p.out : nullptr;
    whole.m = p.n_units;
    whole.n = p.n_depths;
    whole.k = rows;
    whole.lo = -kInfinity;
    whole.hi = kInfinity;
    pool->ParallelFor(kernels.n_panels(p.n_depths), [&](int64_t panel, int) {
      kernels.pack(x, panel, panel + 1, packed);
      GemmTask task = whole;
      task.panel_begin = panel;
      task.panel_end = panel + 1;
      kernels.run(task);
    });
  }
}

void PackForInput(const GemmKernels& kernels, const float* weights, int64_t n_units,
                  int64_t n_depths, float* packed, ThreadPool* pool) {
  GemmWeights layout;
  layout.data = weights;
  layout.n = n_depths;
  layout.stride_n = 1;
  layout.k = layout.depth[2] = n_units;
  layout.stride_k[2] = n_depths;
  pool->ParallelFor(kernels.n_panels(n_depths),
                    [&](int64_t panel, int) { kernels.pack(layout, panel, panel + 1, packed); });
}

GemmTask InputTask(const GemmKernels& kernels, const InputProduct& p) {
  GemmTask task;
  task.a = p.delta;
  task.lda = p.delta_stride;
  task.packed = p.packed;
  task.c = p.out;
  task.ldc = task.ldr = p.out_stride;
  task.residual = p.accumulate ? p.out : nullptr;
  task.m = p.n_rows;
  task.n = p.n_depths;
  task.k = p.n_units;
  task.panel_end = kernels.n_panels(p.n_depths);
  task.lo = -kInfinity;
  task.hi = kInfinity;
  return task;
}

void RunInputProduct(const GemmKernels& kernels, const InputProduct& p, ThreadPool* pool) {
  RunGemm(pool, kernels, InputTask(kernels, p),
          CutGemm(kernels, p.n_rows, p.n_depths, p.n_units, false));
}

}  // namespace topwork
