// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN (TW_REDUCE_KINDS) over `steps` blocks of `inner`
// elements: [outer, steps, inner] to [outer, inner], in float32, one result per work-item.

TW_KERNEL(reduce)(tw_in x, tw_out y, int kind, int outer, int steps, int inner) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i;
  float v = kind == TW_REDUCE_PROD  ? 1.0f
            : kind == TW_REDUCE_MAX ? -INFINITY
            : kind == TW_REDUCE_MIN ? INFINITY
                                    : 0.0f;
  for (int k = 0; k < steps; ++k) {
    const float p = tw_load(from + k * inner, x);
    switch (kind) {
      case TW_REDUCE_PROD: v *= p; break;
      case TW_REDUCE_MAX: v = tw_max(v, p); break;
      case TW_REDUCE_MIN: v = tw_min(v, p); break;
      default: v += p;
    }
  }
  tw_store(kind == TW_REDUCE_MEAN ? v / (float)steps : v, o * inner + i, y);
}
