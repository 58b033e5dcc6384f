// Operators on integers and truth values, with broadcasting: comparisons, LOGICAL_AND, LOGICAL_OR,
// SELECT, and arithmetic of int32, which wraps around.
//
// `nest` as tw_nest_at of common.clh takes it.

// fn: 0 EQUAL, 1 NOT_EQUAL, 2 LESS, 3 LESS_EQUAL, 4 GREATER, 5 GREATER_EQUAL, 6 LOGICAL_AND, else
// LOGICAL_OR. NaN equals nothing and has no order.
__kernel void compare(tw_in a, tw_in b, __global int* y, const __global int* nest, int rank, int n,
                      int fn) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const tw_value_t v = tw_load(at.x, a), w = tw_load(at.y, b);
  int result;
  switch (fn) {
    case 0: result = v == w; break;
    case 1: result = v != w; break;
    case 2: result = v < w; break;
    case 3: result = v <= w; break;
    case 4: result = v > w; break;
    case 5: result = v >= w; break;
    case 6: result = v != 0 && w != 0; break;
    default: result = v != 0 || w != 0; break;
  }
  y[i] = result;
}

// y = condition ? a : b; `nest` holds the condition's strides, too, before those of a and b.
__kernel void select_values(const __global int* condition, tw_in a, tw_in b, tw_out y,
                            const __global int* nest, int rank, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  int left = i, at = 0, at_a = 0, at_b = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int rest = left / nest[d], k = left - rest * nest[d];
    left = rest;
    at += k * nest[rank + d];
    at_a += k * nest[2 * rank + d];
    at_b += k * nest[3 * rank + d];
  }
  tw_store(condition[at] != 0 ? tw_load(at_a, a) : tw_load(at_b, b), i, y);
}

// fn is BinaryFn of kernels/cpu/elementwise.h: ADD, SUB, MUL, MAXIMUM, MINIMUM.
__kernel void binary_int(const __global int* a, const __global int* b, __global int* y,
                         const __global int* nest, int rank, int n, int fn) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const uint v = as_uint(a[at.x]), w = as_uint(b[at.y]);
  int result;
  switch (fn) {
    case 0: result = as_int(v + w); break;
    case 1: result = as_int(v - w); break;
    case 2: result = as_int(v * w); break;
    case 4: result = max(as_int(v), as_int(w)); break;
    default: result = min(as_int(v), as_int(w)); break;
  }
  y[i] = result;
}
