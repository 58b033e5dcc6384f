// DEPTHWISE_CONV_2D of 3x3 and 5x5 taps with stride 1 or 2, dilation 1 and one filter per channel,
// NHWC: a line of the image is loaded into registers once and serves all taps and pixels.
//
// Four channels of TW_PIXELS neighbouring pixels per work-item. A program is compiled for one size
// of filter and one stride, after which its kernel is named: depthwise_rows_f32_3x3_1. The filter
// comes as [ky][kx][channel, rounded up to fours], with zeros for all channels after it, the bias
// rounded up likewise. Loops over constants unroll, and arrays are registers. x: fours of channels;
// y: blocks of pixels of a row; z: rows of all images.
#define TW_VALUES ((TW_PIXELS - 1) * TW_STRIDE + TW_TAPS)  // of a line
#define TW_TAPS_NAME(taps, stride) taps##x##taps##_##stride
#define TW_ROWS_KERNEL(taps, stride) TW_KERNEL_FOR(depthwise_rows, TW_TAPS_NAME(taps, stride))

TW_ROWS_KERNEL(TW_TAPS, TW_STRIDE)(tw_in restrict input, tw_in restrict filter,
                                   tw_in restrict bias, tw_in restrict residual,
                                   tw_out restrict output, int in_h, int in_w, int n_channels,
                                   int out_h, int out_w, int pad_top, int pad_left,
                                   int has_residual, int n_rows, float lo, float hi TW_TAIL) {
  const int c = (int)get_global_id(0) * 4;
  const int x0 = (int)get_global_id(1) * TW_PIXELS;
  const int row = (int)get_global_id(2);
  if (c >= n_channels || x0 >= out_w || row >= n_rows) return;
  const int b = row / out_h, n = min(4, n_channels - c);
  const int wide = (n_channels + 3) / 4 * 4, left = x0 * TW_STRIDE - pad_left;
  const int top = (row - b * out_h) * TW_STRIDE - pad_top;
  const int first = max(0, -top), end = min(TW_TAPS, in_h - top);  // lines inside the image
  // Values outside of it are read from the zeros.
  tw_in line = input + (b * in_h + top + first) * in_w * n_channels + c, from[TW_VALUES];
  int step[TW_VALUES];
#pragma unroll
  for (int j = 0; j < TW_VALUES; ++j) {
    const bool inside = left + j >= 0 && left + j < in_w;
    from[j] = inside ? line + (left + j) * n_channels : filter + TW_TAPS * TW_TAPS * wide + c;
    step[j] = inside ? in_w * n_channels : 0;
  }
  float4 sum[TW_PIXELS];
#pragma unroll
  for (int i = 0; i < TW_PIXELS; ++i) sum[i] = tw_aligned4(bias + c);
  tw_in taps = filter + first * TW_TAPS * wide + c;
  for (int ky = first; ky < end; ++ky, taps += TW_TAPS * wide) {
    float4 k[TW_TAPS];
#pragma unroll
    for (int t = 0; t < TW_TAPS; ++t) k[t] = tw_aligned4(taps + t * wide);
#pragma unroll
    for (int j = 0; j < TW_VALUES; ++j) {
      const float4 v = tw_load_part(from[j], 0, n);
      from[j] += step[j];
#pragma unroll
      for (int i = 0; i < TW_PIXELS; ++i) {
        const int t = j - i * TW_STRIDE;  // value j of the line meets tap t of output i
        if (t >= 0 && t < TW_TAPS) sum[i] += k[t] * v;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TW_PIXELS; ++i) {
    if (x0 + i >= out_w) continue;
    const int to = (row * out_w + x0 + i) * n_channels + c;
    if (has_residual) sum[i] += tw_load_part(residual, to, n);
    tw_finish(output, to, c, n, tw_clamp4(sum[i], lo, hi));
  }
}
