// What SPLIT, SPLIT_V, UNPACK, CONCATENATION and PACK share: one tensor is cut along an axis into
// pieces that are tensors of their own, or put together from them.
//
// Seen as rows (everything before the axis) of bytes (the axis and everything after it), piece k is
// the same columns of every row.
#ifndef TOPWORK_KERNELS_OPS_MOVEMENT_SPLIT_ROWS_H_
#define TOPWORK_KERNELS_OPS_MOVEMENT_SPLIT_ROWS_H_

#include <vector>

#include "kernels/ops/shared/strided_copy.h"

namespace topwork {

struct SplitRowsState : OpState {
  std::vector<StridedCopy> copies;  // one per piece
  int64_t n_rows = 1;
};

// Makes the state of a cut of `whole` into pieces of `row_bytes[k]` bytes per row, n_rows rows.
// to_pieces: from input `whole` to the outputs; otherwise from the inputs to output `whole`. Allows
// zero-copy views where there is one row only.
void PrepareSplitRows(PrepareContext& context, bool to_pieces, int whole, int64_t n_rows,
                      const std::vector<int64_t>& row_bytes);

// prepare of SPLIT, SPLIT_V: input `whole` cut into outputs of sizes[k] along `axis`.
Status PrepareSplit(PrepareContext& context, int whole, int axis,
                    const std::vector<int64_t>& sizes);

// run: input `kWhole` to the outputs; the inputs to output 0.
template <int kWhole>
Status RunSplitRows(const RunContext& context) {
  const auto& copies = context.get_state<SplitRowsState>().copies;
  for (size_t k = 0; k < copies.size(); ++k) {
    copies[k].Run(context.in(kWhole).data, context.out(static_cast<int>(k)).data, context.pool);
  }
  return Status::Ok();
}
Status RunJoinRows(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_MOVEMENT_SPLIT_ROWS_H_
