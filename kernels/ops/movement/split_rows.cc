// Cutting and joining along an axis.
#include "kernels/ops/movement/split_rows.h"

#include "kernels/ops/shared/indexing.h"

namespace topwork {

void PrepareSplitRows(PrepareContext& context, bool to_pieces, int whole, int64_t n_rows,
                      const std::vector<int64_t>& row_bytes) {
  SplitRowsState* state = context.NewState<SplitRowsState>();
  state->n_rows = n_rows;
  int64_t whole_bytes = 0;
  for (int64_t bytes : row_bytes) whole_bytes += bytes;
  int64_t column = 0;
  for (size_t k = 0; k < row_bytes.size(); ++k) {
    const int64_t bytes = row_bytes[k];
    StridedCopy copy = to_pieces ? RowsCopy(n_rows, bytes, whole_bytes, bytes)
                                 : RowsCopy(n_rows, bytes, bytes, whole_bytes);
    if (to_pieces) {
      copy.set_src_offset(column);
    } else {
      copy.set_dst_offset(column);
    }
    const int piece = static_cast<int>(k);
    if (copy.contiguous() && !copy.empty() && !IsPacked(context.output(0).dtype)) {
      if (to_pieces) {
        context.AllowView(whole, piece, static_cast<size_t>(column));
      } else {
        context.AllowInsideOutput(piece, whole, static_cast<size_t>(column));
      }
    }
    context.SetVariant(copy.variant());
    state->copies.push_back(copy);
    column += bytes;
  }
}

Status PrepareSplit(PrepareContext& context, int whole, int axis,
                    const std::vector<int64_t>& sizes) {
  const TensorView& input = *context.input(whole);
  const int rank = input.shape.rank();
  const int64_t inner = input.shape.Product(axis + 1, rank) * ElementBytes(input);
  std::vector<int64_t> row_bytes;
  for (size_t k = 0; k < sizes.size(); ++k) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, whole, static_cast<int>(k)));
    Shape shape = input.shape;
    shape.set_dim(axis, static_cast<int32_t>(sizes[k]));
    TW_RETURN_IF_ERROR(context.SetOutput(static_cast<int>(k), input.dtype, shape));
    row_bytes.push_back(sizes[k] * inner);
  }
  PrepareSplitRows(context, true, whole, input.shape.Product(0, axis), row_bytes);
  return Status::Ok();
}

Status RunJoinRows(const RunContext& context) {
  const auto& copies = context.get_state<SplitRowsState>().copies;
  for (size_t k = 0; k < copies.size(); ++k) {
    copies[k].Run(context.in(static_cast<int>(k)).data, context.out(0).data, context.pool);
  }
  return Status::Ok();
}

}  // namespace topwork
