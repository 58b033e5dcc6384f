// Block-sparse weights (gemm.h) of an operator: whether to use them, their packed form, the cut
// into tasks.
#ifndef TOPWORK_KERNELS_OPS_SHARED_GEMM_SPARSE_H_
#define TOPWORK_KERNELS_OPS_SHARED_GEMM_SPARSE_H_

#include "kernels/ops/shared/gemm_plan.h"

namespace topwork {

// For W as it lies in memory, a plain matrix: its entries, the bytes of its packed form, and the
// form itself in `memory`, aligned to kAlignment.
int64_t CountEntries(const GemmWeights& weights);
size_t SparseBytes(const GemmWeights& weights, int64_t n_entries);
SparseWeights PackSparse(const GemmWeights& weights, int64_t n_entries, void* memory);

// Packs input `input` (constant, `layout` a plain matrix) where so few entries are left that this
// form is faster; otherwise leaves `out` empty. A sample recognises weights that were never pruned.
Status PlanSparseWeights(PrepareContext* context, int input, const GemmWeights& layout,
                         SparseWeights* out);
GemmCut CutSparseGemm(const CpuKernels& cpu, int64_t m, int64_t n, int64_t k);
void RunSparseGemm(ThreadPool* pool, const CpuKernels& cpu, const GemmTask& whole,
                   const SparseWeights& weights, const GemmCut& cut);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_GEMM_SPARSE_H_
