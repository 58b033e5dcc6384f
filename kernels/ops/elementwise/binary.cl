// Arithmetic of two tensors by itself, four neighbouring elements per work-item; `fn` is one of
// TW_BINARY_FUNCTIONS (functions.inc). Behind another kernel, or in a chain, it is a stage
// (gpu/common.clh).

// x has the output's shape. by_element, by_column: whether the other has an element for each, 1 or 0;
// neither: it has one. is_left: it is the first operand. x: fours of columns; y: rows.
TW_KERNEL_FOR(binary, rows)(tw_in x, tw_out y, int columns, int rows, tw_in other, float lo,
                            float hi, int fn, int by_element, int by_column, int is_left) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1);
  if (column >= columns || row >= rows) return;
  const int at = row * columns + column, n = min(4, columns - column);
  const float4 v = tw_load_part(x, at, n);
  float4 w;
  if (by_element || by_column) {
    w = tw_load_part(other, by_element ? at : column, n);
  } else {
    w = (float4)(tw_load(0, other));
  }
  const float4 result = tw_binary4(fn, is_left ? w : v, is_left ? v : w);
  tw_store_part(y, at, n, tw_clamp4(result, lo, hi));
}

// Both are broadcast, or one not along the last axis alone. `nest` as tw_nest_at of common.clh takes
// it.

TW_KERNEL(binary)(tw_in a, tw_in b, tw_out y, const __global int* nest, int rank, int n, int fn,
                  float lo, float hi) {
  const int first = (int)get_global_id(0) * 4;
  if (first >= n) return;
  tw_walk4(nest, rank, first, n, i, at, {
    const float v = tw_binary(fn, tw_load(at.x, a), tw_load(at.y, b));
    tw_store(tw_clamp(v, lo, hi), i, y);
  })
}
