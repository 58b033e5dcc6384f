// Functions of one tensor, four elements per work-item. A program computes TW_FN, one of
// TW_UNARY_FUNCTIONS (functions.inc): a driver that lacks one function lacks that one only.

inline float tw_unary(float x, float alpha) {
  switch (TW_FN) {
#define TW_FORMULA(name, number, formula) case number: return formula;
    TW_UNARY_FUNCTIONS(TW_FORMULA)
#undef TW_FORMULA
    default: return NAN;
  }
}

TW_KERNEL(unary)(tw_in x, tw_out y, int n, float alpha) {
  const int i = (int)get_global_id(0) * 4;
  if (i >= n) return;
  float4 v = tw_load_part(x, i, n - i);
  v = (float4)(tw_unary(v.x, alpha), tw_unary(v.y, alpha), tw_unary(v.z, alpha),
               tw_unary(v.w, alpha));
  tw_store_part(y, i, n - i, v);
}
