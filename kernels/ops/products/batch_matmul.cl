// C = act(A B + bias) for many pairs of matrices, float32 sums: BATCH_MATMUL, and FULLY_CONNECTED of
// weights that only a run knows. Four rows by four columns per work-item.
//
// Element (i, j) of A lies at i * a_row + j * a_column; `places` holds where A and B begin for each
// product. `bias` (one for each column) is not read when has_bias is 0. x: fours of columns; y:
// fours of rows; z: products.

// Up to four elements that lie `step` apart; zeros after them.
inline float4 tw_load_apart(tw_in p, int step, int n) {
  if (step == 1) return tw_load_part(p, 0, n);
  float4 v = (float4)(0.0f);
  v.x = tw_load(0, p);
  if (n > 1) v.y = tw_load(step, p);
  if (n > 2) v.z = tw_load(2 * step, p);
  if (n > 3) v.w = tw_load(3 * step, p);
  return v;
}

inline void tw_store_tile(tw_out c, tw_in bias, int row, int column, int m, int n, int has_bias,
                          float lo, float hi, float4 s0, float4 s1, float4 s2, float4 s3) {
  const int columns = min(4, n - column);
  const float4 sums[4] = {s0, s1, s2, s3};
  const float4 more = has_bias ? tw_load_part(bias, column, columns) : (float4)(0.0f);
  for (int r = 0; r < 4 && row + r < m; ++r) {
    tw_store_part(c, (row + r) * n + column, columns, tw_clamp4(sums[r] + more, lo, hi));
  }
}

// B: [k][n].
TW_KERNEL(batch_matmul)(tw_in a, tw_in b, tw_in bias, tw_out c, const __global int* places,
                        int products, int m, int n, int k, int a_row, int a_column, int has_bias,
                        float lo, float hi) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1) * 4;
  const int z = (int)get_global_id(2);
  if (column >= n || row >= m || z >= products) return;
  const int columns = min(4, n - column);
  tw_in a0 = a + places[2 * z] + row * a_row;
  const int r1 = min(1, m - 1 - row) * a_row, r2 = min(2, m - 1 - row) * a_row;
  const int r3 = min(3, m - 1 - row) * a_row;
  tw_in from = b + places[2 * z + 1] + column;
  float4 s0 = (float4)(0.0f), s1 = s0, s2 = s0, s3 = s0;
  for (int i = 0; i < k; ++i) {
    const float4 v = tw_load_part(from, i * n, columns);
    const int at = i * a_column;
    s0 += (float)tw_load(at, a0) * v;
    s1 += (float)tw_load(at + r1, a0) * v;
    s2 += (float)tw_load(at + r2, a0) * v;
    s3 += (float)tw_load(at + r3, a0) * v;
  }
  tw_store_tile(c + z * m * n, bias, row, column, m, n, has_bias, lo, hi, s0, s1, s2, s3);
}

// B: [n][k].
TW_KERNEL_FOR(batch_matmul, turned)(tw_in a, tw_in b, tw_in bias, tw_out c,
                                    const __global int* places, int products, int m, int n, int k,
                                    int a_row, int a_column, int has_bias, float lo, float hi) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1) * 4;
  const int z = (int)get_global_id(2);
  if (column >= n || row >= m || z >= products) return;
  tw_in a0 = a + places[2 * z] + row * a_row;
  const int r1 = min(1, m - 1 - row) * a_row, r2 = min(2, m - 1 - row) * a_row;
  const int r3 = min(3, m - 1 - row) * a_row;
  tw_in b0 = b + places[2 * z + 1] + column * k;
  const int c1 = min(1, n - 1 - column) * k, c2 = min(2, n - 1 - column) * k;
  const int c3 = min(3, n - 1 - column) * k;
  float4 s0 = (float4)(0.0f), s1 = s0, s2 = s0, s3 = s0;
  for (int i = 0; i < k; i += 4) {
    const int here = min(4, k - i);
    tw_in line = a0 + i * a_column;
    const float4 w0 = tw_load_part(b0, i, here), w1 = tw_load_part(b0 + c1, i, here);
    const float4 w2 = tw_load_part(b0 + c2, i, here), w3 = tw_load_part(b0 + c3, i, here);
    const float4 v0 = tw_load_apart(line, a_column, here);
    const float4 v1 = tw_load_apart(line + r1, a_column, here);
    const float4 v2 = tw_load_apart(line + r2, a_column, here);
    const float4 v3 = tw_load_apart(line + r3, a_column, here);
    s0 += (float4)(dot(v0, w0), dot(v0, w1), dot(v0, w2), dot(v0, w3));
    s1 += (float4)(dot(v1, w0), dot(v1, w1), dot(v1, w2), dot(v1, w3));
    s2 += (float4)(dot(v2, w0), dot(v2, w1), dot(v2, w2), dot(v2, w3));
    s3 += (float4)(dot(v3, w0), dot(v3, w1), dot(v3, w2), dot(v3, w3));
  }
  tw_store_tile(c + z * m * n, bias, row, column, m, n, has_bias, lo, hi, s0, s1, s2, s3);
}
