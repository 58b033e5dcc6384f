// Functions of one tensor; `fn` is one of TW_UNARY_FUNCTIONS (functions.inc).

inline float tw_unary(int fn, float x, float alpha) {
  switch (fn) {
#define TW_FORMULA(name, number, formula) case number: return formula;
    TW_UNARY_FUNCTIONS(TW_FORMULA)
#undef TW_FORMULA
    default: return NAN;
  }
}

TW_KERNEL(unary)(tw_in x, tw_out y, int n, int fn, float alpha) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  tw_store(tw_unary(fn, tw_load(i, x), alpha), i, y);
}
