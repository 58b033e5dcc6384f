// SOFTMAX (with beta), LOG_SOFTMAX and L2_NORMALIZATION (TW_ROWWISE_KINDS) of rows of n values: one
// work-group of up to 64 items a row; sums are float32 in an order that depends on n alone.
#define TW_GROUP 64

TW_KERNEL(rowwise)(tw_in x, tw_out y, int kind, int n, float beta) {
  __local float part[TW_GROUP];
  const int id = (int)get_local_id(0);
  const int from = tw_group_id(1) * n;
  float top = 0.0f;
  if (kind != TW_L2_NORMALIZATION) {
    float v = -INFINITY;
    for (int i = id; i < n; i += TW_GROUP) v = tw_max(v, tw_load(from + i, x));
    part[id] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_way = TW_GROUP / 2; half_way > 0; half_way /= 2) {
      if (id < half_way) part[id] = tw_max(part[id], part[id + half_way]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    top = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float sum = 0.0f;
  for (int i = id; i < n; i += TW_GROUP) {
    const float v = tw_load(from + i, x);
    sum += kind == TW_L2_NORMALIZATION ? v * v
           : kind == TW_SOFTMAX        ? exp(beta * (v - top))
                                       : exp(v - top);
  }
  part[id] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_way = TW_GROUP / 2; half_way > 0; half_way /= 2) {
    if (id < half_way) part[id] += part[id + half_way];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float total = part[0];
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
