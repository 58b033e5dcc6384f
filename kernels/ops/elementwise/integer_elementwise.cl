// Operators on int8 and uint8 with the CPU's integer arithmetic: functions of one tensor by a
// table, ADD, SUB and MUL with broadcasting, AVERAGE_POOL_2D and MAX_POOL_2D, MEAN, SUM, REDUCE_MAX
// and REDUCE_MIN.

// Byte i as the integer that it is.
#define tw_byte(p, i) (is_unsigned ? (int)(p)[i] : (int)as_char((p)[i]))

inline uchar tw_place(int value, int offset, int lo, int hi) {
  return (uchar)((int)clamp((long)value + offset, (long)lo, (long)hi) & 255);
}

TW_KERNEL(integer_lookup)(const __global uchar* x, __global uchar* y,
                          const __global uchar* table, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) y[i] = table[x[i]];
}

// `fn` is TW_ADD, TW_SUB or TW_MUL; `params` has the elements TW_INTEGER_BINARY_PARAMS.
TW_KERNEL(integer_binary)(const __global uchar* a, const __global uchar* b, __global uchar* y,
                          const __global int* nest, const __global int* params, int rank, int n,
                          int fn, int is_unsigned) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int2 at = tw_nest_at(nest, rank, i);
  const int va = tw_byte(a, at.x) + params[TW_OFFSET_A];
  const int vb = tw_byte(b, at.y) + params[TW_OFFSET_B];
  int v;
  if (fn == TW_MUL) {
    v = va * vb;
  } else {
    const int wa = tw_rescale(va << params[TW_LEFT_SHIFT], params[TW_MANTISSA_A],
                              params[TW_LEFT_A], params[TW_RIGHT_A]);
    const int wb = tw_rescale(vb << params[TW_LEFT_SHIFT], params[TW_MANTISSA_B],
                              params[TW_LEFT_B], params[TW_RIGHT_B]);
    v = fn == TW_ADD ? wa + wb : wa - wb;
  }
  v = tw_rescale(v, params[TW_MANTISSA_Y], params[TW_LEFT_Y], params[TW_RIGHT_Y]);
  y[i] = tw_place(v, params[TW_OFFSET_Y], params[TW_LEAST], params[TW_MOST]);
}

// TW_AVERAGE_POOL (ties away from zero) or TW_MAX_POOL. Padding is not looked at. x: channels; y:
// pixels of a row; z: rows of all images.
TW_KERNEL(integer_pool)(const __global uchar* input, __global uchar* output, int kind, int in_h,
                        int in_w, int channels, int out_h, int out_w, int filter_h, int filter_w,
                        int stride_h, int stride_w, int pad_top, int pad_left, int n_rows,
                        int is_unsigned, int lo, int hi) {
  const int c = (int)get_global_id(0), x = (int)get_global_id(1), row = (int)get_global_id(2);
  if (c >= channels || x >= out_w || row >= n_rows) return;
  const int b = row / out_h;
  const int y0 = (row - b * out_h) * stride_h - pad_top, x0 = x * stride_w - pad_left;
  int v = kind == TW_AVERAGE_POOL ? 0 : lo, count = 0;
  for (int iy = max(y0, 0); iy < min(y0 + filter_h, in_h); ++iy) {
    for (int ix = max(x0, 0); ix < min(x0 + filter_w, in_w); ++ix) {
      const int p = tw_byte(input, ((b * in_h + iy) * in_w + ix) * channels + c);
      v = kind == TW_AVERAGE_POOL ? v + p : max(v, p);
      ++count;
    }
  }
  const int half_way = count / 2;
  if (kind == TW_AVERAGE_POOL) v = (v > 0 ? v + half_way : v - half_way) / max(count, 1);
  output[(row * out_w + x) * channels + c] = (uchar)(clamp(v, lo, hi) & 255);
}

// TW_REDUCE_SUM (less `zeros`, times a factor), TW_REDUCE_MAX or TW_REDUCE_MIN: [outer, steps,
// inner] to [outer, inner]; x: inner; y: outer.
TW_KERNEL(integer_reduce)(const __global uchar* x, __global uchar* y, int kind, int outer,
                          int steps, int inner, int is_unsigned, int zeros, int mantissa,
                          int left, int right, int out_zero) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i;
  const int lo = is_unsigned ? 0 : -128;
  int v = kind == TW_REDUCE_SUM ? -zeros : kind == TW_REDUCE_MAX ? lo : lo + 255;
  for (int k = 0; k < steps; ++k) {
    const int p = tw_byte(x, from + k * inner);
    v = kind == TW_REDUCE_SUM ? v + p : kind == TW_REDUCE_MAX ? max(v, p) : min(v, p);
  }
  if (kind == TW_REDUCE_SUM) v = tw_rescale(v, mantissa, left, right);
  y[o * inner + i] = tw_place(v, kind == TW_REDUCE_SUM ? out_zero : 0, lo, lo + 255);
}
