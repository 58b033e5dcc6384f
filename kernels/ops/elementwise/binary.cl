// Arithmetic of two tensors with broadcasting; `fn` is one of TW_BINARY_FUNCTIONS (functions.inc).
//
// `nest` as tw_nest_at of common.clh takes it.

inline float tw_binary(int fn, float a, float b) {
  switch (fn) {
    case TW_ADD: return a + b;
    case TW_SUB: return a - b;
    case TW_MUL: return a * b;
    case TW_DIV: return a / b;
    case TW_MAXIMUM: return a > b ? a : b;
    case TW_MINIMUM: return a < b ? a : b;
    case TW_SQUARED_DIFFERENCE: return (a - b) * (a - b);
    case TW_POW: return pow(a, b);
    case TW_FLOOR_DIV: return floor(a / b);
    case TW_FLOOR_MOD: {
      const float r = fmod(a, b);
      return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
    }
    case TW_ATAN2: return atan2(a, b);
    case TW_PRELU: return a >= 0.0f ? a : a * b;
    default: return NAN;
  }
}

TW_KERNEL(binary)(tw_in a, tw_in b, tw_out y, const __global int* nest, int rank, int n, int fn,
                  float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const float v = tw_binary(fn, tw_load(at.x, a), tw_load(at.y, b));
  tw_store(tw_clamp(v, lo, hi), i, y);
}

// Both inputs have the output's shape.
TW_KERNEL_FOR(binary, same)(tw_in a, tw_in b, tw_out y, int n, int fn, float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const float v = tw_binary(fn, tw_load(i, a), tw_load(i, b));
  tw_store(tw_clamp(v, lo, hi), i, y);
}
