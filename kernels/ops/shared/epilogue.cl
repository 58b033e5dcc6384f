// What follows a product that a BLAS library made: C = act(C + bias + residual) in place, [m, n]
// dense; bias rounded up to fours. x: fours of columns; y: rows.

TW_KERNEL(epilogue)(tw_out c, tw_in bias, tw_in residual, int m, int n, int has_residual,
                    float lo, float hi TW_TAIL) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1);
  if (column >= n || row >= m) return;
  const int at = row * n + column, columns = min(4, n - column);
  float4 v = tw_load_part(c, at, columns) + tw_load4(0, bias + column);
  if (has_residual) v += tw_load_part(residual, at, columns);
  tw_finish(c, at, column, columns, tw_clamp4(v, lo, hi));
}
