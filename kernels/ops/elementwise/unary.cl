// Functions of one tensor; `fn` is one of TW_UNARY_FUNCTIONS (functions.inc).

inline float tw_unary(int fn, float x, float alpha) {
  switch (fn) {
    case TW_RELU: return x < 0.0f ? 0.0f : x;
    case TW_RELU6: return tw_clamp(x, 0.0f, 6.0f);
    case TW_RELU_N1_TO_1: return tw_clamp(x, -1.0f, 1.0f);
    case TW_RELU_0_TO_1: return tw_clamp(x, 0.0f, 1.0f);
    case TW_LEAKY_RELU: return x > 0.0f ? x : alpha * x;
    case TW_ELU: return x < 0.0f ? expm1(x) : x;
    case TW_GELU: return 0.5f * x * (1.0f + erf(x * 0.70710678f));
    case TW_GELU_TANH: return 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case TW_HARD_SWISH: return x * tw_clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
    case TW_LOGISTIC: return 1.0f / (1.0f + exp(-x));
    case TW_TANH: return tanh(x);
    case TW_EXP: return exp(x);
    case TW_LOG: return log(x);
    case TW_SQRT: return sqrt(x);
    case TW_RSQRT: return 1.0f / sqrt(x);
    case TW_SQUARE: return x * x;
    case TW_ABS: return fabs(x);
    case TW_NEG: return -x;
    case TW_SIN: return sin(x);
    case TW_COS: return cos(x);
    case TW_FLOOR: return floor(x);
    case TW_CEIL: return ceil(x);
    case TW_ROUND: return rint(x);
    case TW_SIGN: return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
    default: return NAN;
  }
}

TW_KERNEL(unary)(tw_in x, tw_out y, int n, int fn, float alpha) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  tw_store(tw_unary(fn, tw_load(i, x), alpha), i, y);
}
