// Between kinds of numbers: CAST, QUANTIZE, bytes and reals; the epilogue of quantized operators
// and of a fused TANH.

TW_KERNEL(cast_to_int)(tw_in x, __global int* y, int n, int lo, int hi) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const tw_value_t v = tw_load(i, x);
#ifdef TW_INT
  y[i] = v;
#else
  y[i] = clamp(convert_int_sat_rtz(v), lo, hi);  // NaN becomes 0
#endif
}

TW_KERNEL(cast_to_bool)(tw_in x, __global int* y, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) y[i] = tw_load(i, x) != 0 ? 1 : 0;
}

TW_KERNEL(cast_to_real)(const __global int* x, tw_out y, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) tw_store((tw_value_t)x[i], i, y);
}

// Keeps the lowest 32 - `shift` bits, signed or not: an integer of fewer bits.
TW_KERNEL(cast_wrap)(const __global int* x, __global int* y, int n, int shift, int is_signed) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const uint bits = (uint)x[i] << shift;
  y[i] = is_signed ? as_int(bits) >> shift : as_int(bits >> shift);
}

// The nearest of scale * [lo, hi], ties away from zero: what a quantized tensor can hold.
inline float tw_on_grid(float v, float scale, float lo, float hi) {
  return clamp(round(v / scale), lo, hi) * scale;
}

TW_KERNEL(quantize)(tw_in x, tw_out y, int n, float scale, float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i < n) tw_store(tw_on_grid((float)tw_load(i, x), scale, lo, hi), i, y);
}

TW_KERNEL(quantize_in_place)(tw_out y, int n, float scale, float lo, float hi) {
  const int i = (int)get_global_id(0);
  if (i < n) tw_store(tw_on_grid((float)tw_load(i, y), scale, lo, hi), i, y);
}

TW_KERNEL(bytes_to_real)(const __global uchar* x, tw_out y, int n, int is_unsigned, float scale,
                         int zero_point) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int v = is_unsigned ? (int)x[i] : (int)as_char(x[i]);
  tw_store((float)(v - zero_point) * scale, i, y);
}

// NaN becomes the least value.
TW_KERNEL(real_to_bytes)(tw_in x, __global uchar* y, int n, float scale, float lo, float hi,
                         int zero_point) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const float steps = round((float)tw_load(i, x) / scale);
  y[i] = (uchar)(((int)(steps > lo ? min(steps, hi) : lo) + zero_point) & 255);
}

TW_KERNEL(tanh_in_place)(tw_out y, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) tw_store(tanh((float)tw_load(i, y)), i, y);
}

TW_KERNEL(clear)(__global int* y) {
  if (get_global_id(0) == 0) y[0] = 0;
}
