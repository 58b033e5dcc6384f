// DEPTHWISE_CONV_2D, NHWC, filter [ky][kx][channel]: four channels of a pixel per work-item.
//
// x: fours of output channels; y: pixels of a row; z: rows of all images.

TW_KERNEL(depthwise_conv_2d)(tw_in restrict input, tw_in restrict filter, tw_in restrict bias,
                             tw_in restrict residual, tw_out restrict output, int in_h, int in_w,
                             int in_c, int out_h, int out_w, int out_c, int multiplier,
                             int filter_h, int filter_w, int stride_h, int stride_w,
                             int dilation_h, int dilation_w, int pad_top, int pad_left,
                             int has_residual, int n_rows, float lo, float hi TW_TAIL) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= out_c || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, n = min(4, out_c - c);
  float4 sum = tw_load_part(bias, c, n);
  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    for (int kx = 0; kx < filter_w; ++kx) {
      const int ix = x * stride_w - pad_left + kx * dilation_w;
      if (ix < 0 || ix >= in_w) continue;
      const int from = ((b * in_h + iy) * in_w + ix) * in_c;
      const float4 k = tw_load_part(filter, (ky * filter_w + kx) * out_c + c, n);
      sum += k * tw_channels(input, from, c, multiplier, out_c);
    }
  }
  const int at = (row * out_w + x) * out_c + c;
  if (has_residual) sum += tw_load_part(residual, at, n);
  tw_finish(output, at, c, n, tw_clamp4(sum, lo, hi));
}
