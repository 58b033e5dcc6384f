// C = act(A B + bias + residual) with float32 sums, of few rows: a work-group of 64 for four columns
// of one row, whose items walk the depth side by side and add up in a tree. A is [m, k], B [n][k] as
// files have it; the bias is rounded up to fours. Groups in x: fours of columns; y: rows. With
// TW_SUB_GROUPS they add up by sub-groups, and one item adds those.
#define TW_GROUP 64

TW_KERNEL(gemv)(tw_in restrict a, tw_in restrict b, tw_in restrict bias, tw_in restrict residual,
                tw_out restrict c, int m, int n, int k, int has_residual, float lo, float hi TW_TAIL) {
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
    const float4 w0 = tw_load_part(b0, i, here), w1 = tw_load_part(b1, i, here);
    const float4 w2 = tw_load_part(b2, i, here), w3 = tw_load_part(b3, i, here);
    tw_dot4(sum.x, v, w0) tw_dot4(sum.y, v, w1) tw_dot4(sum.z, v, w2) tw_dot4(sum.w, v, w3)
  }
#ifdef TW_SUB_GROUPS
  sum = (float4)(sub_group_reduce_add(sum.x), sub_group_reduce_add(sum.y),
                 sub_group_reduce_add(sum.z), sub_group_reduce_add(sum.w));
  const int parts = (int)get_num_sub_groups();
  if (get_sub_group_local_id() == 0) part[get_sub_group_id()] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (id > 0) return;
  for (int i = 1; i < parts; ++i) part[0] += part[i];
#else
  part[id] = sum;
  for (int half_way = TW_GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] += part[id + half_way];
  }
  if (id > 0) return;
#endif
  const int at = row * n + column;
  float4 v = part[0] + tw_aligned4(bias + column);
  if (has_residual) v += tw_load_part(residual, at, columns);
  tw_finish(c, at, column, columns, tw_clamp4(v, lo, hi));
}
