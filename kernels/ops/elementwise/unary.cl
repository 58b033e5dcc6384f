// A function of one tensor by itself, four elements per work-item; `fn` is one of TW_UNARY_FUNCTIONS
// (functions.inc). Behind another kernel, or in a chain, it is a stage (gpu/common.clh).

// Sine and cosine are launches of elementwise.cl (gpu/stages.cc): a driver that lacks one of them, as
// Mesa 26 does with Debian's libclc, would lose all functions of the switch.
#undef sin  // some drivers, as PoCL, have macros of these names
#undef cos
#define sin(x) NAN
#define cos(x) NAN

inline float tw_unary(int fn, float x, float alpha) {
  switch (fn) {
#define TW_FORMULA(name, number, formula) case number: return formula;
    TW_UNARY_FUNCTIONS(TW_FORMULA)
#undef TW_FORMULA
    default: return NAN;
  }
}

TW_KERNEL(unary)(tw_in x, tw_out y, int n, float alpha, int fn) {
  const int i = (int)get_global_id(0) * 4, part = min(4, n - i);
  if (i >= n) return;
  const float4 v = tw_load_part(x, i, part);
  tw_store_part(y, i, part, (float4)(tw_unary(fn, v.x, alpha), tw_unary(fn, v.y, alpha),
                                     tw_unary(fn, v.z, alpha), tw_unary(fn, v.w, alpha)));
}
