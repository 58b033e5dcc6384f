// Along one axis of [outer, axis, inner], one work-item for each of the others: ARG_MAX, ARG_MIN,
// CUMSUM. x: inner; y: outer.

// The first of the largest (least) elements; a NaN wins only where it comes first.
TW_KERNEL(arg_extreme)(tw_in x, __global int* y, int largest, int outer, int axis, int inner) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * axis * inner + i;
  tw_value_t best = tw_load(from, x);
  int position = 0;
  for (int k = 1; k < axis; ++k) {
    const tw_value_t v = tw_load(from + k * inner, x);
    if (largest ? v > best : v < best) {
      best = v;
      position = k;
    }
  }
  y[o * inner + i] = position;
}

TW_KERNEL(cumsum)(tw_in x, tw_out y, int exclusive, int reverse, int outer, int axis, int inner) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int step = reverse ? -inner : inner;
  int at = (o * axis + (reverse ? axis - 1 : 0)) * inner + i;
  tw_value_t sum = 0;
  for (int k = 0; k < axis; ++k, at += step) {
    const tw_value_t next = sum + tw_load(at, x);
    tw_store(exclusive ? sum : next, at, y);
    sum = next;
  }
}
