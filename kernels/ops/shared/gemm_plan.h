// What operators need around the packed GEMM: scratch layout, packed weights, the cut into tasks.
#ifndef TOPWORK_KERNELS_OPS_SHARED_GEMM_PLAN_H_
#define TOPWORK_KERNELS_OPS_SHARED_GEMM_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/contract/kernel.h"
#include "kernels/cpu/gemm.h"

namespace topwork {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Blocks of an operator's scratch memory, each aligned to kAlignment.
class ScratchLayout {
 public:
  // Reserves n blocks of count floats and returns the offset in bytes of the first; the blocks lie
  // BlockBytes(count) apart. A sum that does not fit size_t makes Request fail.
  size_t Add(int64_t count, int64_t n = 1) { return AddSized(count, sizeof(float), n); }
  static size_t BlockBytes(int64_t count) {
    return AlignUp(static_cast<size_t>(count) * sizeof(float));
  }
  // The same for values of `size` bytes.
  size_t AddSized(int64_t count, size_t size, int64_t n = 1);
  static size_t SizedBlock(int64_t count, size_t size) {
    return AlignUp(static_cast<size_t>(count) * size);
  }
  // Asks the context for the whole.
  Status Request(PrepareContext* context) const;

 private:
  size_t bytes_ = 0;
  bool overflow_ = false;
};

// Weights of a GEMM (or of `groups` independent ones) in packed form. Constant weights are packed
// once, at prepare; others go into scratch in every run.
// A single row reads its weights once a run: the first run takes them as they lie in the model, and
// the second one packs them (LatePacking). What runs once has its answer sooner, in less memory.
struct PackedWeights {
  const float* constant = nullptr;
  size_t scratch_offset = 0;  // when constant is null
  GemmWeights layout;         // of one group; data is null
  int64_t groups = 1;
  int64_t group_stride = 0;              // elements between the groups' first weights
  int64_t packed_size = 0;               // elements of one packed group
  const GemmKernels* kernels = nullptr;  // that packed them and multiply by them
  bool one_row = false;                  // kernels->of_rows may multiply by them as they lie
  PackingPlace place;                    // of `constant` where a run fills it
};

// The float32 products of the context's instruction set, or where the operator may use them, those
// of 16-bit numbers.
const GemmKernels& ProductsOf(const PrepareContext& context);
// Whether the number at this place of the data, or of the halves in its place, is zero.
inline bool IsZero(const GemmWeights& w, int64_t at) {
  return w.half != nullptr ? (w.half[at] & 0x7fffu) == 0 : w.data[at] == 0.0f;
}

// The float32 products for `depth` depths in all, in runs that are multiples of `run` long, 0: in a single run.
const GemmKernels& FloatsOf(const CpuKernels& cpu, int64_t depth, int64_t run = 0);

// `layout` describes group 0 of input `input` without its data. Weights that are float16 in the file
// stay so where `kernels` has products of such: out->kernels then is another than `kernels`.
// m: the number of rows of A, 0: any.
Status PlanPackedWeights(PrepareContext* context, const GemmKernels& kernels, int input,
                         const GemmWeights& layout, int64_t groups, int64_t group_stride,
                         ScratchLayout* scratch, PackedWeights* out, int64_t m = 0);
// The packed weights for this run: group g is at result + g * packed_size.
const float* GetPackedWeights(const PackedWeights& weights, const RunContext& context, int input);
// The same for weights that were planned with a number of rows, and the kernels that multiply by them.
struct WeightsNow {
  const float* data = nullptr;
  const GemmKernels* kernels = nullptr;
};
WeightsNow GetWeights(const PackedWeights& weights, const RunContext& context, int input);

// Multiply-adds of a task where `whole` are to be shared: an eighth of them, so that all threads are
// busy to the end, but not more than `most` and not less than a 16th of `most`.
double TaskWork(int64_t most, double whole);

// How an m x n x k product is cut into tasks: a function of the problem's shape and the instruction
// set only, never of the number of threads.
struct GemmCut {
  int64_t rows = 0;        // of a task, but for those of the last block
  int64_t most_rows = 0;   // of any task
  int64_t row_blocks = 0;  // number of them
  int64_t panels = 0;      // of a task
  int64_t panel_blocks = 0;
  int64_t total_panels = 0;
  int64_t n_tasks() const { return row_blocks * panel_blocks; }
  // The rows of task `index` of a product with m rows: *first and so many.
  int64_t RowsOf(int64_t index, int64_t m, int64_t* first) const {
    const int64_t block = index / panel_blocks;
    *first = block * rows;
    return block + 1 == row_blocks ? m - *first : std::min(rows, m - *first);
  }
};
// `a_is_made`: every task makes its rows of A itself (im2col). Splitting the columns repeats that
// work, so it is done only where rows alone give too few tasks.
GemmCut CutGemm(const GemmKernels& kernels, int64_t m, int64_t n, int64_t k, bool a_is_made);
// The same for other float tiles, of `tile_rows` rows, and `total_panels` of W.
GemmCut CutFloats(int tile_rows, int64_t total_panels, int64_t m, int64_t n, int64_t k,
                  bool a_is_made);
// The same for any tiles: `rows` of a tile, `total_panels` of W, `block_values` of A that a task
// may read (what the second-level cache holds), at most `task_work` multiply-adds.
struct GemmTiles {
  int rows = 1;
  int64_t total_panels = 0;
  int64_t block_values = 0;
  int64_t task_work = 0;
  int64_t output_work = 0;  // what an element of C costs beside its k products, in multiply-adds
};
GemmCut CutProduct(const GemmTiles& tiles, int64_t m, int64_t n, int64_t k, bool a_is_made);
// Blocks of some `rows` rows, each with all panels.
GemmCut CutByRows(const GemmTiles& tiles, int64_t m, int64_t rows);
// GemmTask::work of every thread, in the operator's scratch memory. Products of float32 need none.
struct GemmWork {
  size_t offset = 0, block = 0;  // block 0: none
  float* Of(const RunContext& context, int thread) const {
    if (block == 0) return nullptr;
    return reinterpret_cast<float*>(context.scratch + offset + static_cast<size_t>(thread) * block);
  }
};
// For tasks that read at most `runs` runs of `length` values of A.
GemmWork PlanGemmWork(const PrepareContext& context, const GemmKernels& kernels, int64_t runs,
                      int64_t length, ScratchLayout* scratch);

// Rows and panels of task `index`; A, C and residual of `whole` are moved to its first row.
GemmTask TaskOf(const GemmTask& whole, const GemmCut& cut, int64_t index, int64_t* out_first_row);
// Runs all tasks of a float32 product whose A lies in memory.
void RunGemm(ThreadPool* pool, const GemmKernels& kernels, const GemmTask& whole,
             const GemmCut& cut);
// The same for any products.
void RunGemm(const RunContext& context, const GemmKernels& kernels, const GemmTask& whole,
             const GemmCut& cut, const GemmWork& work);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_GEMM_PLAN_H_
