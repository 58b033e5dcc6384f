// Products for gradients. X and the transposed dY are packed a block of rows at a time, so that the
// working memory does not grow with the batch; blocks follow each other in the order of rows.
#include "kernels/train/backward_product.h"

#include <algorithm>
#include <limits>

#include "kernels/train/backward.h"
#include "kernels/train/backward_kernels.h"

namespace topwork {
namespace {

constexpr int64_t kRowBlock = 512;
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

// What one block's product reads: the transposed dY, X where it is made, X packed.
struct Block {
  const WeightProduct& p;
  const CpuKernels& cpu;
  ThreadPool* pool;
  float* delta;
  float* made;
  float* packed;
};

// Rows [first, first + rows).
void PrepareBlock(const Block& block, int64_t first, int64_t rows) {
  const WeightProduct& p = block.p;
  const GemmKernels& gemm = *block.cpu.gemm;
  const BackwardKernels& kernels = BackwardKernelsFor(block.cpu);
  const bool makes = p.make != nullptr;
  GemmWeights x;
  x.data = makes ? block.made : p.x + first * p.x_stride;
  x.n = p.n_depths;
  x.stride_n = 1;
  x.k = x.depth[2] = rows;
  x.stride_k[2] = makes ? p.n_depths : p.x_stride;
  const int64_t n_panels = gemm.n_panels(p.n_depths);
  const auto pack = [&](int64_t panel) { gemm.pack(x, panel, panel + 1, block.packed); };
  // What is made is packed afterwards.
  const int64_t others = makes ? (rows + kMadeRowsPerTask - 1) / kMadeRowsPerTask : n_panels;
  block.pool->ParallelFor(
      others + (p.n_units + kUnitsPerTask - 1) / kUnitsPerTask, [&](int64_t task, int) {
        if (task >= others) {
          const int64_t begin = (task - others) * kUnitsPerTask;
          kernels.transpose(p.delta + first * p.delta_stride, p.delta_stride, rows, begin,
                            std::min(p.n_units, begin + kUnitsPerTask), block.delta);
        } else if (makes) {
          const int64_t begin = task * kMadeRowsPerTask;
          const int64_t end = std::min(rows, begin + kMadeRowsPerTask);
          (*p.make)(first + begin, first + end, block.made + begin * p.n_depths);
        } else {
          pack(task);
        }
      });
  if (makes) block.pool->ParallelFor(n_panels, [&](int64_t panel, int) { pack(panel); });
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
  const Block block = {p, cpu, pool, delta, made, packed};
  for (int64_t first = 0; first < p.n_rows; first += kRowBlock) {
    const int64_t rows = std::min(kRowBlock, p.n_rows - first);
    PrepareBlock(block, first, rows);
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
    whole.panel_end = kernels.n_panels(p.n_depths);
    whole.lo = -kInfinity;
    whole.hi = kInfinity;
    RunGemm(pool, kernels, whole, CutGemm(kernels, p.n_units, p.n_depths, rows, false));
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
