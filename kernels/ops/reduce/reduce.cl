// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN (TW_REDUCE_KINDS) over `steps` blocks of `inner`
// elements: [outer, steps, inner] to [outer, inner], in float32.
#define TW_GROUP 256  // the largest work-group

inline float4 tw_reduce_start(int kind) {
  return (float4)(kind == TW_REDUCE_PROD  ? 1.0f
                  : kind == TW_REDUCE_MAX ? -INFINITY
                  : kind == TW_REDUCE_MIN ? INFINITY
                                          : 0.0f);
}

inline float4 tw_reduce_add(int kind, float4 v, float4 p) {
  switch (kind) {
    case TW_REDUCE_PROD: return v * p;
    case TW_REDUCE_MAX: return tw_max4(v, p);
    case TW_REDUCE_MIN: return tw_min4(v, p);
    default: return v + p;
  }
}

// Four results per work-item. x: fours of inner; y: outer.
TW_KERNEL(reduce)(tw_in x, tw_out y, int kind, int outer, int steps, int inner TW_TAIL) {
  const int i = (int)get_global_id(0) * 4, o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i, n = min(4, inner - i);
  float4 v = tw_reduce_start(kind);
  for (int k = 0; k < steps; ++k) {
    v = tw_reduce_add(kind, v, tw_load_part(x, from + k * inner, n));
  }
  if (kind == TW_REDUCE_MEAN) v /= (float)steps;
  tw_finish(y, o * inner + i, i, n, v);
}

// Few results of many steps: a work-group, whose size is a power of two, for `fours` fours of
// results; its items share the steps and combine theirs in a tree. Groups in x: blocks of inner; y:
// outer.
TW_KERNEL_FOR(reduce, group)(tw_in x, tw_out y, int kind, int steps, int inner,
                             int fours TW_TAIL) {
  __local float4 part[TW_GROUP];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int first = id / fours, lanes = size / fours;
  const int i = (tw_group_id(0) * fours + (id - first * fours)) * 4, n = min(4, inner - i);
  const int o = (int)get_global_id(1), from = o * steps * inner + i;
  float4 v = tw_reduce_start(kind);
  for (int k = first; k < steps && n > 0; k += lanes) {
    v = tw_reduce_add(kind, v, tw_load_part(x, from + k * inner, n));
  }
  part[id] = v;
  for (int half_way = size / 2; half_way >= fours; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] = tw_reduce_add(kind, part[id], part[id + half_way]);
  }
  if (first > 0 || n <= 0) return;
  v = part[id];
  if (kind == TW_REDUCE_MEAN) v /= (float)steps;
  tw_finish(y, o * inner + i, i, n, v);
}
