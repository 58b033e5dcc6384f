// Operators on integers and truth values, with broadcasting: comparisons, LOGICAL_AND, LOGICAL_OR,
// SELECT, and arithmetic of int32, which wraps around.
//
// `nest` as tw_nest_at of common.clh takes it.

// `fn` is one of TW_COMPARE_FUNCTIONS (functions.inc). NaN equals nothing and has no order.
TW_KERNEL(compare)(tw_in a, tw_in b, __global int* y, const __global int* nest, int rank, int n,
                   int fn) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const tw_value_t v = tw_load(at.x, a), w = tw_load(at.y, b);
  int result = 0;
  switch (fn) {
    case TW_EQUAL: result = v == w; break;
    case TW_NOT_EQUAL: result = v != w; break;
    case TW_LESS: result = v < w; break;
    case TW_LESS_EQUAL: result = v <= w; break;
    case TW_GREATER: result = v > w; break;
    case TW_GREATER_EQUAL: result = v >= w; break;
  }
  y[i] = result;
}

// `fn` is TW_LOGICAL_AND or TW_LOGICAL_OR.
TW_KERNEL(logical)(const __global int* a, const __global int* b, __global int* y,
                   const __global int* nest, int rank, int n, int fn) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const int v = a[at.x] != 0, w = b[at.y] != 0;
  y[i] = fn == TW_LOGICAL_AND ? v && w : v || w;
}

// y = condition ? a : b; `nest` holds the condition's strides, too, before those of a and b.
TW_KERNEL(select_values)(const __global int* condition, tw_in a, tw_in b, tw_out y,
                         const __global int* nest, int rank, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  int left = i, at = 0, at_a = 0, at_b = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int k = tw_index(&left, nest[d]);
    at += k * nest[rank + d];
    at_a += k * nest[2 * rank + d];
    at_b += k * nest[3 * rank + d];
  }
  tw_store(condition[at] != 0 ? tw_load(at_a, a) : tw_load(at_b, b), i, y);
}

// `fn` is TW_ADD, TW_SUB, TW_MUL, TW_MAXIMUM or TW_MINIMUM.
TW_KERNEL(binary_int)(const __global int* a, const __global int* b, __global int* y,
                      const __global int* nest, int rank, int n, int fn) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const uint v = as_uint(a[at.x]), w = as_uint(b[at.y]);
  int result = 0;
  switch (fn) {
    case TW_ADD: result = as_int(v + w); break;
    case TW_SUB: result = as_int(v - w); break;
    case TW_MUL: result = as_int(v * w); break;
    case TW_MAXIMUM: result = max(as_int(v), as_int(w)); break;
    case TW_MINIMUM: result = min(as_int(v), as_int(w)); break;
  }
  y[i] = result;
}
