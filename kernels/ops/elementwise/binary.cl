// Arithmetic of two tensors with broadcasting; `fn` is BinaryFn of kernels/cpu/elementwise.h.
//
// `nest` as tw_nest_at of common.clh takes it.

inline float tw_binary(int fn, float a, float b) {
  switch (fn) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return a > b ? a : b;
    case 5: return a < b ? a : b;
    case 6: return (a - b) * (a - b);
    case 7: return pow(a, b);
    case 8: return floor(a / b);
    case 9: {
      const float r = fmod(a, b);
      return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
    }
    case 10: return atan2(a, b);
    default: return a >= 0.0f ? a : a * b;
  }
}

__kernel void binary(tw_in a, tw_in b, tw_out y, const __global int* nest, int rank, int n, int fn,
                     float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const float v = tw_binary(fn, tw_load(at.x, a), tw_load(at.y, b));
  tw_store(tw_clamp(v, lo, hi), i, y);
}

// Both inputs have the output's shape.
__kernel void binary_same(tw_in a, tw_in b, tw_out y, int n, int fn, float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const float v = tw_binary(fn, tw_load(i, a), tw_load(i, b));
  tw_store(tw_clamp(v, lo, hi), i, y);
}
