// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN (TW_REDUCE_KINDS) over `steps` blocks of `inner`
// elements: [outer, steps, inner] to [outer, inner], in float32; pools of whole images, too.

#define TW_GROUP 64

inline float tw_nothing(int kind) {
  return kind == TW_REDUCE_PROD  ? 1.0f
         : kind == TW_REDUCE_MAX ? -INFINITY
         : kind == TW_REDUCE_MIN ? INFINITY
                                 : 0.0f;
}

inline float tw_combine(int kind, float v, float p) {
  switch (kind) {
    case TW_REDUCE_PROD: return v * p;
    case TW_REDUCE_MAX: return tw_max(v, p);
    case TW_REDUCE_MIN: return tw_min(v, p);
    default: return v + p;
  }
}

// One result per work-item.
TW_KERNEL(reduce)(tw_in x, tw_out y, int kind, int outer, int steps, int inner) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i;
  float v = tw_nothing(kind);
  for (int k = 0; k < steps; ++k) v = tw_combine(kind, v, tw_load(from + k * inner, x));
  tw_store(kind == TW_REDUCE_MEAN ? v / (float)steps : v, o * inner + i, y);
}

// Few results of many steps: a work-group of 64 for one of `parts` parts of the steps of `lanes`
// neighbouring results (a power of two), whose items walk the steps side by side and combine in a
// tree. sums: [outer, parts, inner]. Groups in x: lanes; y: parts; z: outer.
TW_KERNEL_FOR(reduce, part)(tw_in x, __global float* restrict sums, int kind, int outer, int steps,
                            int inner, int parts, int lanes) {
  __local float part[TW_GROUP];
  const int id = (int)get_local_id(0), lane = id & (lanes - 1);
  const int i = tw_group_id(0) * lanes + lane, p = (int)get_global_id(1), o = (int)get_global_id(2);
  const int each = (steps + parts - 1) / parts, end = min((p + 1) * each, steps);
  const int from = o * steps * inner + min(i, inner - 1);
  float v = tw_nothing(kind);
  for (int k = p * each + id / lanes; k < end; k += TW_GROUP / lanes) {
    v = tw_combine(kind, v, tw_load(from + k * inner, x));
  }
  part[id] = v;
  for (int half_way = TW_GROUP / 2; half_way >= lanes; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] = tw_combine(kind, part[id], part[id + half_way]);
  }
  if (id < lanes && i < inner) sums[(o * parts + p) * inner + i] = part[id];
}

// What reduce_part left: one result per work-item, clamped to [lo, hi].
TW_KERNEL_FOR(reduce, rest)(const __global float* restrict sums, tw_out y, int kind, int outer,
                            int steps, int inner, int parts, float lo, float hi) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  float v = tw_nothing(kind);
  for (int p = 0; p < parts; ++p) v = tw_combine(kind, v, sums[(o * parts + p) * inner + i]);
  if (kind == TW_REDUCE_MEAN) v /= (float)steps;
  tw_store(tw_clamp(v, lo, hi), o * inner + i, y);
}
