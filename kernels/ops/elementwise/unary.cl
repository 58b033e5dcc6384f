// Functions of one tensor; `fn` is UnaryFn of kernels/cpu/elementwise.h.

inline float tw_unary(int fn, float x, float alpha) {
  switch (fn) {
    case 0: return x < 0.0f ? 0.0f : x;
    case 1: return tw_clamp(x, 0.0f, 6.0f);
    case 2: return tw_clamp(x, -1.0f, 1.0f);
    case 3: return tw_clamp(x, 0.0f, 1.0f);
    case 4: return x > 0.0f ? x : alpha * x;
    case 5: return x < 0.0f ? expm1(x) : x;
    case 6: return 0.5f * x * (1.0f + erf(x * 0.70710678f));
    case 7: return 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case 8: return x * tw_clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
    case 9: return 1.0f / (1.0f + exp(-x));
    case 10: return tanh(x);
    case 11: return exp(x);
    case 12: return log(x);
    case 13: return sqrt(x);
    case 14: return 1.0f / sqrt(x);
    case 15: return x * x;
    case 16: return fabs(x);
    case 17: return -x;
    case 18: return sin(x);
    case 19: return cos(x);
    case 20: return floor(x);
    case 21: return ceil(x);
    case 22: return rint(x);
    default: return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
  }
}

__kernel void unary(tw_in x, tw_out y, int n, int fn, float alpha) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  tw_store(tw_unary(fn, tw_load(i, x), alpha), i, y);
}
