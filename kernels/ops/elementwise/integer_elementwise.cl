// Operators on int8 and uint8 with the CPU's integer arithmetic: functions of one tensor by a
// table, ADD, SUB and MUL with broadcasting, AVERAGE_POOL_2D and MAX_POOL_2D, MEAN, SUM, REDUCE_MAX
// and REDUCE_MIN.
#define TW_GROUP 256  // the largest work-group

// Byte i as the integer that it is.
#define tw_byte(p, i) (is_unsigned ? (int)(p)[i] : (int)as_char((p)[i]))

inline uchar tw_place(int value, int offset, int lo, int hi) {
  return (uchar)((int)clamp((long)value + offset, (long)lo, (long)hi) & 255);
}

TW_KERNEL(integer_lookup)(const __global uchar* x, __global uchar* y,
                          const __global uchar* table, int n) {
  const int i = (int)get_global_id(0) * 4;
  if (i + 4 <= n) {
    const uchar4 v = vload4(0, x + i);
    vstore4((uchar4)(table[v.x], table[v.y], table[v.z], table[v.w]), 0, y + i);
    return;
  }
  for (int k = i; k < n; ++k) y[k] = table[x[k]];
}

inline uchar tw_integer_binary(int a, int b, const __global int* params, int fn) {
  const int va = a + params[TW_OFFSET_A], vb = b + params[TW_OFFSET_B];
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
  return tw_place(v, params[TW_OFFSET_Y], params[TW_LEAST], params[TW_MOST]);
}

// Four neighbouring elements per work-item. `fn` is TW_ADD, TW_SUB or TW_MUL; `params` has the
// elements TW_INTEGER_BINARY_PARAMS.
TW_KERNEL(integer_binary)(const __global uchar* a, const __global uchar* b, __global uchar* y,
                          const __global int* nest, const __global int* params, int rank, int n,
                          int fn, int is_unsigned) {
  const int first = (int)get_global_id(0) * 4;
  if (first >= n) return;
  tw_walk4(nest, rank, first, n, i, at, {
    y[i] = tw_integer_binary(tw_byte(a, at.x), tw_byte(b, at.y), params, fn);
  })
}

inline int tw_average(int sum, int count) {
  const int half_way = count / 2;
  return (sum > 0 ? sum + half_way : sum - half_way) / max(count, 1);
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
  const int top = max(y0, 0), bottom = min(y0 + filter_h, in_h);
  const int left = max(x0, 0), right = min(x0 + filter_w, in_w);
  int v = kind == TW_AVERAGE_POOL ? 0 : lo;
  for (int iy = top; iy < bottom; ++iy) {
    for (int ix = left; ix < right; ++ix) {
      const int p = tw_byte(input, ((b * in_h + iy) * in_w + ix) * channels + c);
      v = kind == TW_AVERAGE_POOL ? v + p : max(v, p);
    }
  }
  if (kind == TW_AVERAGE_POOL) v = tw_average(v, max(bottom - top, 0) * max(right - left, 0));
  output[(row * out_w + x) * channels + c] = (uchar)(clamp(v, lo, hi) & 255);
}

// The same for few pixels of large windows: a work-group, whose size is a power of two, for `block`
// channels of a pixel; its items share the window's pixels and add up in a tree. Groups in x: blocks
// of channels; y: pixels of a row; z: rows of all images.
TW_KERNEL_FOR(integer_pool, group)(const __global uchar* input, __global uchar* output, int kind,
                                   int in_h, int in_w, int channels, int out_h, int out_w,
                                   int filter_h, int filter_w, int stride_h, int stride_w,
                                   int pad_top, int pad_left, int block, int is_unsigned, int lo,
                                   int hi) {
  __local int part[TW_GROUP];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int first = id / block, lanes = size / block;
  const int c = tw_group_id(0) * block + (id - first * block);
  const int x = (int)get_global_id(1), row = (int)get_global_id(2), b = row / out_h;
  const int y0 = (row - b * out_h) * stride_h - pad_top, x0 = x * stride_w - pad_left;
  const int top = max(y0, 0), bottom = min(y0 + filter_h, in_h);
  const int left = max(x0, 0), right = min(x0 + filter_w, in_w);
  const int wide = max(right - left, 0), count = max(bottom - top, 0) * wide;
  int v = kind == TW_AVERAGE_POOL ? 0 : lo;
  for (int k = first; k < count && c < channels; k += lanes) {
    const int down = k / wide;
    const int at = (b * in_h + top + down) * in_w + left + k - down * wide;
    const int p = tw_byte(input, at * channels + c);
    v = kind == TW_AVERAGE_POOL ? v + p : max(v, p);
  }
  part[id] = v;
  for (int half_way = size / 2; half_way >= block; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) {
      const int more = part[id + half_way];
      part[id] = kind == TW_AVERAGE_POOL ? part[id] + more : max(part[id], more);
    }
  }
  if (first > 0 || c >= channels) return;
  v = kind == TW_AVERAGE_POOL ? tw_average(part[id], count) : part[id];
  output[(row * out_w + x) * channels + c] = (uchar)(clamp(v, lo, hi) & 255);
}

inline int tw_reduce_byte(int kind, int v, int p) {
  return kind == TW_REDUCE_SUM ? v + p : kind == TW_REDUCE_MAX ? max(v, p) : min(v, p);
}

// What a reduction starts with.
inline int tw_reduce_start(int kind, int is_unsigned) {
  const int lo = is_unsigned ? 0 : -128;
  return kind == TW_REDUCE_SUM ? 0 : kind == TW_REDUCE_MAX ? lo : lo + 255;
}

inline uchar tw_reduce_end(int kind, int v, int is_unsigned, int zeros, int mantissa, int left,
                           int right, int out_zero) {
  const int lo = is_unsigned ? 0 : -128;
  if (kind != TW_REDUCE_SUM) return tw_place(v, 0, lo, lo + 255);
  return tw_place(tw_rescale(v - zeros, mantissa, left, right), out_zero, lo, lo + 255);
}

// TW_REDUCE_SUM (less `zeros`, times a factor), TW_REDUCE_MAX or TW_REDUCE_MIN: [outer, steps,
// inner] to [outer, inner]; x: inner; y: outer.
TW_KERNEL(integer_reduce)(const __global uchar* x, __global uchar* y, int kind, int outer,
                          int steps, int inner, int is_unsigned, int zeros, int mantissa,
                          int left, int right, int out_zero) {
  const int i = (int)get_global_id(0), o = (int)get_global_id(1);
  if (i >= inner || o >= outer) return;
  const int from = o * steps * inner + i;
  int v = tw_reduce_start(kind, is_unsigned);
  for (int k = 0; k < steps; ++k) v = tw_reduce_byte(kind, v, tw_byte(x, from + k * inner));
  y[o * inner + i] = tw_reduce_end(kind, v, is_unsigned, zeros, mantissa, left, right, out_zero);
}

// The same for few results of many steps: a work-group, whose size is a power of two, for `block`
// results; its items share the steps and combine theirs in a tree. Groups in x: blocks of inner; y:
// outer.
TW_KERNEL_FOR(integer_reduce, group)(const __global uchar* x, __global uchar* y, int kind,
                                     int steps, int inner, int block, int is_unsigned, int zeros,
                                     int mantissa, int left, int right, int out_zero) {
  __local int part[TW_GROUP];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int first = id / block, lanes = size / block;
  const int i = tw_group_id(0) * block + (id - first * block), o = (int)get_global_id(1);
  const int from = o * steps * inner + i;
  int v = tw_reduce_start(kind, is_unsigned);
  for (int k = first; k < steps && i < inner; k += lanes) {
    v = tw_reduce_byte(kind, v, tw_byte(x, from + k * inner));
  }
  part[id] = v;
  for (int half_way = size / 2; half_way >= block; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] = tw_reduce_byte(kind, part[id], part[id + half_way]);
  }
  if (first > 0 || i >= inner) return;
  y[o * inner + i] =
      tw_reduce_end(kind, part[id], is_unsigned, zeros, mantissa, left, right, out_zero);
}
