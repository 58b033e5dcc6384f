// SOFTMAX (with beta), LOG_SOFTMAX and L2_NORMALIZATION (TW_ROWWISE_KINDS) of rows of n values: one
// work-group of up to 64 items a row; sums are float32 in an order that depends on n and the device
// alone.
#define TW_GROUP 64

// The largest or the sum of the v of all items, for each of them.
TW_INLINE float tw_row_fold(__local float* part, float v, int is_max) {
  const int id = (int)get_local_id(0);
#ifdef TW_SUB_GROUPS
  v = is_max ? sub_group_reduce_max(v) : sub_group_reduce_add(v);
  const int parts = (int)get_num_sub_groups();
  if (get_sub_group_local_id() == 0) part[get_sub_group_id()] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  v = part[0];
  for (int i = 1; i < parts; ++i) v = is_max ? tw_max(v, part[i]) : v + part[i];
#else
  part[id] = v;
  for (int half_way = TW_GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id >= half_way) continue;
    const float other = part[id + half_way];
    part[id] = is_max ? tw_max(part[id], other) : part[id] + other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  v = part[0];
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  return v;
}

TW_KERNEL(rowwise)(tw_in x, tw_out y, int kind, int n, float beta) {
  __local float part[TW_GROUP];
  const int id = (int)get_local_id(0);
  const int from = tw_group_id(1) * n;
  float top = 0.0f;
  if (kind != TW_L2_NORMALIZATION) {
    float v = -INFINITY;
    for (int i = id; i < n; i += TW_GROUP) v = tw_max(v, tw_load(from + i, x));
    top = tw_row_fold(part, v, 1);
  }
  float sum = 0.0f;
  for (int i = id; i < n; i += TW_GROUP) {
    const float v = tw_load(from + i, x);
    sum += kind == TW_L2_NORMALIZATION ? v * v
           : kind == TW_SOFTMAX        ? exp(beta * (v - top))
                                       : exp(v - top);
  }
  const float total = tw_row_fold(part, sum, 0);
  const float norm = sqrt(total), divisor = norm < 1e-6f ? 1e-6f : norm;  // of L2_NORMALIZATION
  for (int i = id; i < n; i += TW_GROUP) {
    const float v = tw_load(from + i, x);
    float r;
    if (kind == TW_SOFTMAX) {
      r = exp(beta * (v - top)) / total;
    } else if (kind == TW_LOG_SOFTMAX) {
      r = v - top - log(total);
    } else {
      r = v / divisor;
    }
    tw_store(r, from + i, y);
  }
}
