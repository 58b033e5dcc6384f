// Products of int8 rows with int8 weights for integer recurrent cells: 32-bit sums, zero points
// moved into the bias.
#ifndef TOPWORK_KERNELS_OPS_RECURRENT_CELL_SUMS_H_
#define TOPWORK_KERNELS_OPS_RECURRENT_CELL_SUMS_H_

#include <cstdint>
#include <vector>

#include "kernels/ops/recurrent/recurrent.h"

namespace topwork {

// W, and what is added to its products: bias − zero point of A * sums of W's rows.
struct SumsMatrix {
  CellMatrix matrix;
  std::vector<int32_t> bias;
};

// `input` holds W [n x k] of int8, a constant; `bias_input` int32 or −1 for none; `zero` is A's.
Status PlanSums(PrepareContext* context, int input, int bias_input, int32_t zero,
                ScratchLayout* scratch, SumsMatrix* out);

// Scratch for m rows of k values as the GEMM wants them.
size_t PlanSumRows(const PrepareContext& context, int64_t m, int64_t k, ScratchLayout* scratch);
const uint8_t* MakeSumRows(const RunContext& context, size_t offset, const int8_t* x, int64_t n);

// c [m x n] = A W^T without the bias; rows of A come from MakeSumRows.
void MultiplySums(const RunContext& context, const SumsMatrix& matrix, const uint8_t* rows,
                  int64_t m, int32_t* c);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_RECURRENT_CELL_SUMS_H_
