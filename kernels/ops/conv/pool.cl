// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D (TW_POOL_KINDS); padding is not counted.
#define TW_GROUP 256  // the largest work-group

inline float4 tw_pool_start(int kind) { return (float4)(kind == TW_MAX_POOL ? -INFINITY : 0.0f); }

inline float4 tw_pool_add(int kind, float4 v, float4 p) {
  return kind == TW_MAX_POOL ? tw_max4(v, p) : v + (kind == TW_L2_POOL ? p * p : p);
}

inline float4 tw_pool_end(int kind, float4 v, int count, float lo, float hi) {
  if (kind != TW_MAX_POOL) v /= (float)max(count, 1);
  if (kind == TW_L2_POOL) v = sqrt(v);
  return tw_clamp4(v, lo, hi);
}

// Four channels of a pixel per work-item. x: fours of channels; y: pixels of a row; z: rows of all
// images.
TW_KERNEL(pool)(tw_in input, tw_out output, int kind, int in_h, int in_w, int channels,
                int out_h, int out_w, int filter_h, int filter_w, int stride_h, int stride_w,
                int pad_top, int pad_left, int n_rows, float lo, float hi TW_TAIL) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= channels || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, n = min(4, channels - c);
  const int y0 = (row - b * out_h) * stride_h - pad_top, x0 = x * stride_w - pad_left;
  const int top = max(y0, 0), bottom = min(y0 + filter_h, in_h);
  const int left = max(x0, 0), right = min(x0 + filter_w, in_w);
  float4 v = tw_pool_start(kind);
  for (int iy = top; iy < bottom; ++iy) {
    for (int ix = left; ix < right; ++ix) {
      const int at = ((b * in_h + iy) * in_w + ix) * channels + c;
      v = tw_pool_add(kind, v, tw_load_part(input, at, n));
    }
  }
  const int count = max(bottom - top, 0) * max(right - left, 0);
  v = tw_pool_end(kind, v, count, lo, hi);
  tw_finish(output, (row * out_w + x) * channels + c, c, n, v);
}

// Few pixels of large windows: a work-group, whose size is a power of two, for `fours` fours of
// channels of a pixel; its items share the window's pixels and add up in a tree. Groups in x: blocks
// of channels; y: pixels of a row; z: rows of all images.
TW_KERNEL_FOR(pool, group)(tw_in input, tw_out output, int kind, int in_h, int in_w, int channels,
                           int out_h, int out_w, int filter_h, int filter_w, int stride_h,
                           int stride_w, int pad_top, int pad_left, int fours, float lo,
                           float hi TW_TAIL) {
  __local float4 part[TW_GROUP];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int first = id / fours, lanes = size / fours;
  const int c = (tw_group_id(0) * fours + (id - first * fours)) * 4, n = min(4, channels - c);
  const int x = (int)get_global_id(1), row = (int)get_global_id(2);
  const int b = row / out_h;
  const int y0 = (row - b * out_h) * stride_h - pad_top, x0 = x * stride_w - pad_left;
  const int top = max(y0, 0), bottom = min(y0 + filter_h, in_h);
  const int left = max(x0, 0), right = min(x0 + filter_w, in_w);
  const int wide = max(right - left, 0), count = max(bottom - top, 0) * wide;
  float4 v = tw_pool_start(kind);
  for (int k = first; k < count && n > 0; k += lanes) {
    const int down = k / wide;
    const int at = ((b * in_h + top + down) * in_w + left + k - down * wide) * channels + c;
    v = tw_pool_add(kind, v, tw_load_part(input, at, n));
  }
  part[id] = v;
  for (int half_way = size / 2; half_way >= fours; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) {
      const float4 more = part[id + half_way];
      part[id] = kind == TW_MAX_POOL ? tw_max4(part[id], more) : part[id] + more;
    }
  }
  if (first > 0 || n <= 0) return;
  v = tw_pool_end(kind, part[id], count, lo, hi);
  tw_finish(output, (row * out_w + x) * channels + c, c, n, v);
}
