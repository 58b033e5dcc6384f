// Along one axis of [outer, axis, inner], one work-item for each of the others: ARG_MAX, ARG_MIN,
// CUMSUM. x: inner; y: outer.
#define TW_GROUP 256  // the largest work-group
#ifdef TW_INT
#define tw_is_number(v) true
#else
#define tw_is_number(v) (!isnan(v))
#endif

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

// The same of few results of many steps: a work-group, whose size is a power of two, for `block`
// results. Each of its items finds the best of every lanes-th value, and a tree the best of all:
// of equals the first. Groups in x: blocks of inner; y: outer.
TW_KERNEL_FOR(arg_extreme, group)(tw_in x, __global int* y, int largest, int axis, int inner,
                                  int block) {
  __local tw_value_t best[TW_GROUP];
  __local int place[TW_GROUP];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int first = id / block, lanes = size / block;
  const int i = tw_group_id(0) * block + (id - first * block), o = (int)get_global_id(1);
  const int from = o * axis * inner + i;
  tw_value_t top = 0;
  int position = axis;  // none
  for (int k = first; k < axis && i < inner; k += lanes) {
    const tw_value_t v = tw_load(from + k * inner, x);
    if (tw_is_number(v) && (position == axis || (largest ? v > top : v < top))) {
      top = v;
      position = k;
    }
  }
  best[id] = top;
  place[id] = position;
  for (int half_way = size / 2; half_way >= block; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way && place[id + half_way] < axis) {
      const tw_value_t mine = best[id], other = best[id + half_way];
      const int later = place[id + half_way];
      const bool wins = largest ? other > mine : other < mine;
      if (place[id] == axis || wins || (other == mine && later < place[id])) {
        best[id] = other;
        place[id] = later;
      }
    }
  }
  if (first > 0 || i >= inner) return;
  const tw_value_t start = tw_load(from, x);
  y[o * inner + i] = tw_is_number(start) && place[id] < axis ? place[id] : 0;
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
