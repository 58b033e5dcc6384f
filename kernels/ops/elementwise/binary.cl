// Arithmetic of two tensors with broadcasting. A program computes TW_FN, one of TW_BINARY_FUNCTIONS
// (functions.inc).
//
// `nest` as tw_nest_at of common.clh takes it.

inline float tw_binary(float a, float b) {
  switch (TW_FN) {
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

TW_KERNEL(binary)(tw_in a, tw_in b, tw_out y, const __global int* nest, int rank, int n,
                  float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const float v = tw_binary(tw_load(at.x, a), tw_load(at.y, b));
  tw_store(tw_clamp(v, lo, hi), i, y);
}

inline float4 tw_binary4(float4 a, float4 b, float lo, float hi) {
  const float4 v = (float4)(tw_binary(a.x, b.x), tw_binary(a.y, b.y), tw_binary(a.z, b.z),
                            tw_binary(a.w, b.w));
  return tw_clamp4(v, lo, hi);
}

// Both inputs have the output's shape: four elements per work-item.
TW_KERNEL_FOR(binary, same)(tw_in a, tw_in b, tw_out y, int n, float lo, float hi) {
  const int i = (int)get_global_id(0) * 4;
  if (i >= n) return;
  const float4 v = tw_load_part(a, i, n - i), w = tw_load_part(b, i, n - i);
  tw_store_part(y, i, n - i, tw_binary4(v, w, lo, hi));
}

// The innermost dimension is a multiple of four: four elements per work-item.
TW_KERNEL_FOR(binary, rows)(tw_in a, tw_in b, tw_out y, const __global int* nest, int rank, int n,
                            float lo, float hi) {
  const int i = (int)get_global_id(0) * 4;
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const float4 v = nest[2 * rank - 1] ? tw_load4(0, a + at.x) : (float4)(tw_load(at.x, a));
  const float4 w = nest[3 * rank - 1] ? tw_load4(0, b + at.y) : (float4)(tw_load(at.y, b));
  tw_store4(tw_binary4(v, w, lo, hi), 0, y + i);
}
