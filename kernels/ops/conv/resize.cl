// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, NHWC: four channels of a pixel per work-item.

inline float tw_position(int i, float scale, int half_pixel, float offset) {
  return half_pixel ? ((float)i + 0.5f) * scale - offset : (float)i * scale;
}

TW_KERNEL(resize_bilinear)(tw_in input, tw_out output, int in_h, int in_w, int channels,
                           int out_h, int out_w, int n_rows, float scale_y, float scale_x,
                           int half_pixel TW_TAIL) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= channels || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, n = min(4, channels - c);
  const float fy = tw_position(row - b * out_h, scale_y, half_pixel, 0.5f);
  const float fx = tw_position(x, scale_x, half_pixel, 0.5f);
  const int y0 = clamp((int)floor(fy), 0, in_h - 1), y1 = clamp((int)ceil(fy), 0, in_h - 1);
  const int x0 = clamp((int)floor(fx), 0, in_w - 1), x1 = clamp((int)ceil(fx), 0, in_w - 1);
  const float wy = fy - (float)y0, wx = fx - (float)x0;
  const int top = (b * in_h + y0) * in_w, bottom = (b * in_h + y1) * in_w;
  const float4 v = tw_load_part(input, (top + x0) * channels + c, n) * ((1.0f - wy) * (1.0f - wx)) +
                   tw_load_part(input, (bottom + x0) * channels + c, n) * (wy * (1.0f - wx)) +
                   tw_load_part(input, (top + x1) * channels + c, n) * ((1.0f - wy) * wx) +
                   tw_load_part(input, (bottom + x1) * channels + c, n) * (wy * wx);
  tw_finish(output, (row * out_w + x) * channels + c, c, n, v);
}

TW_KERNEL(resize_nearest)(tw_in input, tw_out output, int in_h, int in_w, int channels,
                          int out_h, int out_w, int n_rows, float scale_y, float scale_x,
                          int half_pixel, int align_corners TW_TAIL) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= channels || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, n = min(4, channels - c);
  const float fy = tw_position(row - b * out_h, scale_y, half_pixel, 0.0f);
  const float fx = tw_position(x, scale_x, half_pixel, 0.0f);
  const int iy = clamp((int)(align_corners ? round(fy) : floor(fy)), 0, in_h - 1);
  const int ix = clamp((int)(align_corners ? round(fx) : floor(fx)), 0, in_w - 1);
  tw_finish(output, (row * out_w + x) * channels + c, c, n,
            tw_load_part(input, ((b * in_h + iy) * in_w + ix) * channels + c, n));
}
