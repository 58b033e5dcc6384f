// C = act(A B + bias + residual) with float32 sums: FULLY_CONNECTED and 1x1 CONV_2D.
//
// A is [m, k] dense, C and the residual are [m, n], B is [k][n rounded up to TW_COLUMNS], read as
// weights, the bias as long. TW_ROWS rows by TW_COLUMNS (4 or 8) columns per work-item, after which the kernel is
// named: gemm_f32_4x8. Loops over TW_ROWS and TW_FOURS unroll, and arrays of these sizes are
// registers. x: blocks of columns; y: blocks of rows.
//
// With TW_HALF_PRODUCTS eight steps of the depth are multiplied in half at a time.
//
// With TW_SPLIT (gemm_f32_split_8x4), for few rows and columns: a work-group of 64 for 8 blocks of
// columns, whose items take the depth in 8 parts and add up in a tree. Groups in x: 8 blocks.
#define TW_FOURS (TW_COLUMNS / 4)
#define TW_GROUP 64
#define TW_LINE TW_NAME2(tw_line, TW_COLUMNS)
#define TW_WEIGHT_LINE TW_NAME2(tw_weight_line, TW_COLUMNS)
// With TW_SCALED the rows of A are multiplied by a row first.
#ifdef TW_SCALED
#define TW_SCALE , tw_in scale
#define TW_TIMES4(i) *tw_load4(0, scale + (i))
#define TW_HALF_TIMES4(i) *tw_half4_at(scale + (i))
#define TW_TIMES(i) *(float)tw_load((i), scale)
#else
#define TW_SCALE
#define TW_TIMES4(i)
#define TW_HALF_TIMES4(i)
#define TW_TIMES(i)
#endif
#ifdef TW_SPLIT
#define TW_TILE_OF(rows, columns) split_##rows##x##columns
#else
#define TW_TILE_OF(rows, columns) rows##x##columns
#endif
#define TW_TILE(rows, columns) TW_KERNEL_FOR(gemm, TW_TILE_OF(rows, columns))
#define TW_GEMM TW_TILE(TW_ROWS, TW_COLUMNS)

// What a work-item stores.
#define TW_END_ONE(r, f)                                                       \
  {                                                                            \
    const int columns = min(4, n - column - 4 * (f));                          \
    if (row + (r) < m && columns > 0) {                                        \
      const int at = (row + (r)) * n + column + 4 * (f);                       \
      float4 v = sum[r][f] + start[f];                                         \
      if (has_residual) v += tw_load_part(residual, at, columns);              \
      tw_finish(c, at, column + 4 * (f), columns, tw_clamp4(v, lo, hi));       \
    }                                                                          \
  }

TW_GEMM(tw_in restrict a, TW_WEIGHTS b, tw_in restrict bias, tw_in restrict residual,
        tw_out restrict c, int m, int n, int k, int has_residual, float lo,
        float hi TW_SCALE TW_TAIL) {
#ifdef TW_SPLIT
  __local float4 part[TW_ROWS * TW_GROUP];
  const int id = (int)get_local_id(0), first = id / 8, parts = TW_GROUP / 8;
  const int block = tw_group_id(0) * 8 + (id & 7), column = block * TW_COLUMNS;
#else
  const int first = 0, parts = 1;
  const int block = (int)get_global_id(0), column = block * TW_COLUMNS;
  if (column >= n || (int)get_global_id(1) * TW_ROWS >= m) return;
#endif
  const int row = (int)get_global_id(1) * TW_ROWS;
  const int blocks = (n + TW_COLUMNS - 1) / TW_COLUMNS, wide = blocks * TW_FOURS * TW_STEP;
  // Where this part of the depth begins.
  tw_in from[TW_ROWS];
  tw_weight_row line = TW_FIRST(b) + TW_CHAIN * first * wide + min(block, blocks - 1) * TW_FOURS * TW_STEP;
  float4 sum[TW_ROWS][TW_FOURS];
#pragma unroll
  for (int r = 0; r < TW_ROWS; ++r) {
    from[r] = a + min(row + r, m - 1) * k + TW_CHAIN * first;
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) sum[r][f] = (float4)(0.0f);
  }
  int i = TW_CHAIN * first;
#ifdef TW_HALF_PRODUCTS
  for (; i + 8 <= k; i += 8 * parts) {
    tw_half4 w[TW_FOURS][8];
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) tw_half_lines8(w[f], b, line + f * TW_STEP, wide)
#pragma unroll
    for (int r = 0; r < TW_ROWS; ++r) {
      const tw_half4 v0 = tw_rounded4(tw_half4_at(from[r]) TW_HALF_TIMES4(i));
      const tw_half4 v1 = tw_rounded4(tw_half4_at(from[r] + 4) TW_HALF_TIMES4(i + 4));
      from[r] += 8 * parts;
#pragma unroll
      for (int f = 0; f < TW_FOURS; ++f) tw_chain(sum[r][f], v0, v1, w[f])
    }
    line += 8 * parts * wide;
  }
  if (i + 4 <= k) {  // of one part
#else
  for (; i + 4 <= k; i += 4 * parts) {
#endif
    float4 v[TW_ROWS];
#pragma unroll
    for (int r = 0; r < TW_ROWS; ++r) {
      v[r] = tw_load4(0, from[r]) TW_TIMES4(i);
      from[r] += 4 * parts;
    }
    float4 w[4][TW_FOURS];
#pragma unroll
    for (int j = 0; j < 4; ++j) TW_WEIGHT_LINE(w[j], b, line + j * wide)
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) {
#pragma unroll
      for (int r = 0; r < TW_ROWS; ++r) {
        tw_product4(sum[r][f], v[r], w[0][f], w[1][f], w[2][f], w[3][f])
      }
    }
    line += 4 * parts * wide;
  }
#ifndef TW_ALIGNED
  // The part that ends inside of the last four has what is left.
  for (; i < k; ++i) {
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) {
      const float4 v = tw_weight4(b, line + f * TW_STEP);
#pragma unroll
      for (int r = 0; r < TW_ROWS; ++r) sum[r][f] += (float)tw_load(0, from[r]) TW_TIMES(i) * v;
    }
#pragma unroll
    for (int r = 0; r < TW_ROWS; ++r) ++from[r];
    line += wide;
  }
#endif
#ifdef TW_SPLIT
#pragma unroll
  for (int r = 0; r < TW_ROWS; ++r) part[r * TW_GROUP + id] = sum[r][0];
  for (int half_way = TW_GROUP / 2; half_way >= 8; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < TW_ROWS && id < half_way; ++r) {
      part[r * TW_GROUP + id] += part[r * TW_GROUP + id + half_way];
    }
  }
  if (id >= 8 || column >= n) return;
#pragma unroll
  for (int r = 0; r < TW_ROWS; ++r) sum[r][0] = part[r * TW_GROUP + id];
#endif
  float4 start[TW_FOURS];
  TW_LINE(start, bias + column)
  tw_each_of_tile(TW_END_ONE)
}
