// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D (TW_POOL_KINDS): four channels of a pixel per
// work-item; padding is not counted.

TW_KERNEL(pool)(tw_in input, tw_out output, int kind, int in_h, int in_w, int channels,
                int out_h, int out_w, int filter_h, int filter_w, int stride_h, int stride_w,
                int pad_top, int pad_left, int n_rows, float lo, float hi) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= channels || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, n = min(4, channels - c);
  const int y0 = (row - b * out_h) * stride_h - pad_top, x0 = x * stride_w - pad_left;
  float4 v = (float4)(kind == TW_MAX_POOL ? -INFINITY : 0.0f);
  int count = 0;
  for (int iy = max(y0, 0); iy < min(y0 + filter_h, in_h); ++iy) {
    for (int ix = max(x0, 0); ix < min(x0 + filter_w, in_w); ++ix) {
      const float4 p = tw_load_part(input, ((b * in_h + iy) * in_w + ix) * channels + c, n);
      v = kind == TW_MAX_POOL ? tw_max4(v, p) : kind == TW_AVERAGE_POOL ? v + p : v + p * p;
      ++count;
    }
  }
  if (kind != TW_MAX_POOL) v /= (float)max(count, 1);
  if (kind == TW_L2_POOL) v = sqrt(v);
  tw_store_part(output, (row * out_w + x) * channels + c, n, tw_clamp4(v, lo, hi));
}
