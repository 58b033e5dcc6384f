// C = act(A B + bias) for many pairs of matrices, float32 sums: BATCH_MATMUL, and FULLY_CONNECTED
// of weights that only a run knows. Four rows by four columns per work-item.
//
// A is [m][k], with TW_TURN_A [k][m]; `places` holds where A and B begin for each product. `bias`
// (one for each column) is not read when has_bias is 0. Loops of four unroll, and arrays are
// registers. x: fours of columns; y: fours of rows; z: products.
#define TW_MATRICES                                                                         \
  tw_in restrict a, tw_in restrict b, tw_in restrict bias, tw_out restrict c,               \
      const __global int* restrict places, int products, int m, int n, int k, int has_bias, \
      float lo, float hi TW_TAIL

#define TW_BEGIN                                                                 \
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1) * 4; \
  const int z = (int)get_global_id(2);                                           \
  if (column >= n || row >= m || z >= products) return;                          \
  a += places[2 * z];                                                            \
  b += places[2 * z + 1];                                                        \
  float4 sum[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};

#define TW_END                                                                               \
  const float4 more = has_bias ? tw_load_part(bias, column, n - column) : (float4)(0.0f);    \
  const int to = (z * m + row) * n + column;                                                 \
  _Pragma("unroll")                                                                          \
  for (int r = 0; r < 4; ++r) {                                                              \
    if (row + r < m) {                                                                       \
      tw_finish(c, to + r * n, column, n - column, tw_clamp4(sum[r] + more, lo, hi))         \
    }                                                                                        \
  }

// Four rows of A at depths i to i + 3, and one row of it at depth i.
#ifdef TW_TURN_A
#define TW_LOAD_A(v)                                                                        \
  const float4 a0 = tw_load_part(a, i * m + row, m - row);                                  \
  const float4 a1 = tw_load_part(a, (i + 1) * m + row, m - row);                            \
  const float4 a2 = tw_load_part(a, (i + 2) * m + row, m - row);                            \
  const float4 a3 = tw_load_part(a, (i + 3) * m + row, m - row);                            \
  float4 v[4];                                                                              \
  v[0] = (float4)(a0.x, a1.x, a2.x, a3.x);                                                  \
  v[1] = (float4)(a0.y, a1.y, a2.y, a3.y);                                                  \
  v[2] = (float4)(a0.z, a1.z, a2.z, a3.z);                                                  \
  v[3] = (float4)(a0.w, a1.w, a2.w, a3.w);
#define TW_LOAD_ONE(r) (float)tw_load(i * m + min(row + (r), m - 1), a)
#else
#define TW_LOAD_A(v)          \
  float4 v[4];                \
  _Pragma("unroll")           \
  for (int r = 0; r < 4; ++r) v[r] = tw_load4(0, a + min(row + r, m - 1) * k + i);
#define TW_LOAD_ONE(r) (float)tw_load(min(row + (r), m - 1) * k + i, a)
#endif

// B: [k][n].
TW_KERNEL(batch_matmul)(TW_MATRICES) {
  TW_BEGIN
  int i = 0;
  for (; i + 4 <= k; i += 4) {
    TW_LOAD_A(v)
    tw_in line = b + i * n + column;
    const float4 b0 = tw_load_part(line, 0, n - column), b1 = tw_load_part(line, n, n - column);
    const float4 b2 = tw_load_part(line, 2 * n, n - column);
    const float4 b3 = tw_load_part(line, 3 * n, n - column);
#pragma unroll
    for (int r = 0; r < 4; ++r) tw_product4(sum[r], v[r], b0, b1, b2, b3)
  }
#ifndef TW_ALIGNED
  for (; i < k; ++i) {
    const float4 v = tw_load_part(b, i * n + column, n - column);
#pragma unroll
    for (int r = 0; r < 4; ++r) sum[r] += TW_LOAD_ONE(r) * v;
  }
#endif
  TW_END
}

// B: [n][k].
TW_KERNEL_FOR(batch_matmul, turned)(TW_MATRICES) {
  TW_BEGIN
  const int last = n - 1;
  tw_in from0 = b + column * k, from1 = b + min(column + 1, last) * k;
  tw_in from2 = b + min(column + 2, last) * k, from3 = b + min(column + 3, last) * k;
  int i = 0;
  for (; i + 4 <= k; i += 4) {
    TW_LOAD_A(v)
    const float4 b0 = tw_load4(0, from0 + i), b1 = tw_load4(0, from1 + i);
    const float4 b2 = tw_load4(0, from2 + i), b3 = tw_load4(0, from3 + i);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      tw_dot4(sum[r].x, v[r], b0) tw_dot4(sum[r].y, v[r], b1)
      tw_dot4(sum[r].z, v[r], b2) tw_dot4(sum[r].w, v[r], b3)
    }
  }
#ifndef TW_ALIGNED
  for (; i < k; ++i) {
    const float4 v = (float4)(tw_load(i, from0), tw_load(i, from1), tw_load(i, from2),
                              tw_load(i, from3));
#pragma unroll
    for (int r = 0; r < 4; ++r) sum[r] += TW_LOAD_ONE(r) * v;
  }
#endif
  TW_END
}
