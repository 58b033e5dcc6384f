// Between kinds of numbers: CAST, QUANTIZE, bytes and reals; the epilogue of quantized operators
// and of a fused TANH. Four neighbouring elements per work-item.

// Runs `whole` where there are four elements from i on, else `single` for each of them.
#define TW_FOURS_OF(n, whole, single)                                      \
  int i = (int)get_global_id(0) * 4;                                       \
  if (i + 4 <= n) {                                                        \
    whole;                                                                 \
  } else {                                                                 \
    for (; i < n; ++i) single;                                             \
  }

#ifdef TW_INT
#define tw_to_int4(i, p, lo, hi) vload4(0, (p) + (i))
#define tw_to_int(i, p, lo, hi) (p)[(i)]
#else
// NaN becomes 0.
#define tw_to_int4(i, p, lo, hi) clamp(convert_int4_sat_rtz(tw_load4(0, (p) + (i))), lo, hi)
#define tw_to_int(i, p, lo, hi) clamp(convert_int_sat_rtz(tw_load(i, p)), lo, hi)
#endif

TW_KERNEL(cast_to_int)(tw_in x, __global int* y, int n, int lo, int hi) {
  TW_FOURS_OF(n, vstore4(tw_to_int4(i, x, lo, hi), 0, y + i), y[i] = tw_to_int(i, x, lo, hi))
}

TW_KERNEL(cast_to_bool)(tw_in x, __global int* y, int n) {
  TW_FOURS_OF(n, vstore4((tw_load4(0, x + i) != (float4)(0.0f)) & 1, 0, y + i),
              y[i] = tw_load(i, x) != 0 ? 1 : 0)
}

TW_KERNEL(cast_to_real)(const __global int* x, tw_out y, int n) {
  TW_FOURS_OF(n, tw_store4(convert_float4(vload4(0, x + i)), 0, y + i),
              tw_store((tw_value_t)x[i], i, y))
}

// Keeps the lowest 32 - `shift` bits, signed or not: an integer of fewer bits.
TW_KERNEL(cast_wrap)(const __global int* x, __global int* y, int n, int shift, int is_signed) {
  for (int i = (int)get_global_id(0) * 4, end = min(i + 4, n); i < end; ++i) {
    const uint bits = (uint)x[i] << shift;
    y[i] = is_signed ? as_int(bits) >> shift : as_int(bits >> shift);
  }
}

// The nearest of scale * [lo, hi], ties away from zero: what a quantized tensor can hold.
inline float tw_on_grid(float v, float scale, float lo, float hi) {
  return clamp(round(v / scale), lo, hi) * scale;
}
inline float4 tw_on_grid4(float4 v, float scale, float lo, float hi) {
  return clamp(round(v / scale), lo, hi) * scale;
}

TW_KERNEL(quantize)(tw_in x, tw_out y, int n, float scale, float lo, float hi) {
  TW_FOURS_OF(n, tw_store4(tw_on_grid4(tw_load4(0, x + i), scale, lo, hi), 0, y + i),
              tw_store(tw_on_grid((float)tw_load(i, x), scale, lo, hi), i, y))
}

TW_KERNEL(quantize_in_place)(tw_out y, int n, float scale, float lo, float hi) {
  TW_FOURS_OF(n, tw_store4(tw_on_grid4(tw_load4(0, y + i), scale, lo, hi), 0, y + i),
              tw_store(tw_on_grid((float)tw_load(i, y), scale, lo, hi), i, y))
}

TW_KERNEL(bytes_to_real)(const __global uchar* x, tw_out y, int n, int is_unsigned, float scale,
                         int zero_point) {
  const int i = (int)get_global_id(0) * 4;
  if (i + 4 <= n) {
    const uchar4 bytes = vload4(0, x + i);
    const int4 v = is_unsigned ? convert_int4(bytes) : convert_int4(as_char4(bytes));
    tw_store4(convert_float4(v - zero_point) * scale, 0, y + i);
    return;
  }
  for (int k = i; k < n; ++k) {
    const int v = is_unsigned ? (int)x[k] : (int)as_char(x[k]);
    tw_store((float)(v - zero_point) * scale, k, y);
  }
}

// NaN becomes the least value.
TW_KERNEL(real_to_bytes)(tw_in x, __global uchar* y, int n, float scale, float lo, float hi,
                         int zero_point) {
  const int i = (int)get_global_id(0) * 4;
  if (i + 4 <= n) {
    const float4 steps = round(tw_load4(0, x + i) / scale);
    const float4 inside = select((float4)(lo), min(steps, hi), steps > (float4)(lo));
    vstore4(convert_uchar4((convert_int4(inside) + zero_point) & 255), 0, y + i);
    return;
  }
  for (int k = i; k < n; ++k) {
    const float steps = round((float)tw_load(k, x) / scale);
    y[k] = (uchar)(((int)(steps > lo ? min(steps, hi) : lo) + zero_point) & 255);
  }
}

TW_KERNEL(tanh_in_place)(tw_out y, int n) {
  TW_FOURS_OF(n, tw_store4(tanh(tw_load4(0, y + i)), 0, y + i),
              tw_store(tanh((float)tw_load(i, y)), i, y))
}

TW_KERNEL(clear)(__global int* y) {
  if (get_global_id(0) == 0) y[0] = 0;
}
