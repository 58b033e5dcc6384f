// MEAN (kind 0), SUM (1), REDUCE_PROD (2), REDUCE_MAX (3), REDUCE_MIN (4) over `steps` blocks of
// `inner` elements: [outer, steps, inner] to [outer, inner], in float32, one result per work-item.

__kernel void reduce(tw_in x, tw_out y, int kind, int outer, int steps, int inner) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i;
  float v = kind == 2 ? 1.0f : kind == 3 ? -INFINITY : kind == 4 ? INFINITY : 0.0f;
  for (int k = 0; k < steps; ++k) {
    const float p = tw_load(from + k * inner, x);
    v = kind == 2 ? v * p : kind == 3 ? tw_max(v, p) : kind == 4 ? tw_min(v, p) : v + p;
  }
  tw_store(kind == 0 ? v / (float)steps : v, o * inner + i, y);
}
