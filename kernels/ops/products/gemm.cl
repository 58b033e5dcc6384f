// C = act(A B + bias + residual) with float32 sums: FULLY_CONNECTED and 1x1 CONV_2D.
//
// A is [m, k] dense, C and the residual are [m, n], bias comes as [n rounded up to fours].

// Four rows by four columns per work-item. B: [k][n rounded up to fours]. x: fours of columns; y:
// fours of rows.
TW_KERNEL(gemm)(tw_in a, tw_in b, tw_in bias, tw_in residual, tw_out c, int m, int n, int k,
                int has_residual, float lo, float hi) {
  const int column = (int)get_global_id(0) * 4;
  const int row = (int)get_global_id(1) * 4;
  if (column >= n || row >= m) return;
  const int wide = (n + 3) / 4 * 4;
  const int a0 = row * k, a1 = min(row + 1, m - 1) * k, a2 = min(row + 2, m - 1) * k,
            a3 = min(row + 3, m - 1) * k;
  float4 s0 = tw_load4(0, bias + column), s1 = s0, s2 = s0, s3 = s0;
  int i = 0;
  for (; i + 4 <= k; i += 4) {
    const int at = i * wide + column;
    const float4 b0 = tw_load4(0, b + at), b1 = tw_load4(0, b + at + wide);
    const float4 b2 = tw_load4(0, b + at + 2 * wide), b3 = tw_load4(0, b + at + 3 * wide);
    const float4 v0 = tw_load4(0, a + a0 + i), v1 = tw_load4(0, a + a1 + i);
    const float4 v2 = tw_load4(0, a + a2 + i), v3 = tw_load4(0, a + a3 + i);
    s0 += v0.x * b0 + v0.y * b1 + v0.z * b2 + v0.w * b3;
    s1 += v1.x * b0 + v1.y * b1 + v1.z * b2 + v1.w * b3;
    s2 += v2.x * b0 + v2.y * b1 + v2.z * b2 + v2.w * b3;
    s3 += v3.x * b0 + v3.y * b1 + v3.z * b2 + v3.w * b3;
  }
  for (; i < k; ++i) {
    const float4 bk = tw_load4(0, b + i * wide + column);
    s0 += tw_load(a0 + i, a) * bk;
    s1 += tw_load(a1 + i, a) * bk;
    s2 += tw_load(a2 + i, a) * bk;
    s3 += tw_load(a3 + i, a) * bk;
  }
  const int columns = min(4, n - column);
  const float4 sums[4] = {s0, s1, s2, s3};
  for (int r = 0; r < 4 && row + r < m; ++r) {
    const int at = (row + r) * n + column;
    float4 v = sums[r];
    if (has_residual) v += tw_load_part(residual, at, columns);
    tw_store_part(c, at, columns, tw_clamp4(v, lo, hi));
  }
}

// Few rows: a work-group of 64 for four columns of one row, whose items walk the depth side by side
// and add up in a tree. B: [n][k], as files have it. Groups in x: fours of columns; y: rows.
#define TW_GROUP 64

TW_KERNEL(gemv)(tw_in a, tw_in b, tw_in bias, tw_in residual, tw_out c, int m, int n, int k,
                int has_residual, float lo, float hi) {
  __local float4 part[TW_GROUP];
  const int id = (int)get_local_id(0);
  const int column = tw_group_id(0) * 4;
  const int row = (int)get_global_id(1);
  const int columns = min(4, n - column);
  tw_in x = a + row * k;
  tw_in b0 = b + column * k, b1 = b + min(column + 1, n - 1) * k;
  tw_in b2 = b + min(column + 2, n - 1) * k, b3 = b + min(column + 3, n - 1) * k;
  float4 sum = (float4)(0.0f);
  for (int i = 4 * id; i < k; i += 4 * TW_GROUP) {
    const int here = min(4, k - i);
    const float4 v = tw_load_part(x, i, here);
    sum += (float4)(dot(v, tw_load_part(b0, i, here)), dot(v, tw_load_part(b1, i, here)),
                    dot(v, tw_load_part(b2, i, here)), dot(v, tw_load_part(b3, i, here)));
  }
  part[id] = sum;
  for (int half_way = TW_GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] += part[id + half_way];
  }
  if (id > 0) return;
  const int at = row * n + column;
  float4 v = part[0] + tw_load4(0, bias + column);
  if (has_residual) v += tw_load_part(residual, at, columns);
  tw_store_part(c, at, columns, tw_clamp4(v, lo, hi));
}
