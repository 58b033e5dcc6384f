// DEPTHWISE_CONV_2D of 3x3 and 5x5 taps with stride 1 or 2, dilation 1 and one filter per channel,
// NHWC: a line of the image is loaded into registers once and serves all taps and pixels.
//
// Four channels of 4 neighbouring pixels (stride 2: of 2) per work-item. The filter comes as
// [ky][kx][channel, rounded up to fours], the bias rounded up likewise. x: fours of channels; y:
// blocks of pixels of a row; z: rows of all images.

#define TW_DEPTHWISE_PARAMETERS                                                             \
  tw_in input, tw_in filter, tw_in bias, tw_in residual, tw_out output, int in_h, int in_w, \
      int n_channels, int out_h, int out_w, int pad_top, int pad_left, int has_residual,    \
      int n_rows, float lo, float hi
#define TW_DEPTHWISE_ARGUMENTS                                                                    \
  input, filter, bias, residual, output, in_h, in_w, n_channels, out_h, out_w, pad_top, pad_left, \
      has_residual, n_rows, lo, hi

// The conditions are known when it is compiled: value j of the line meets tap j - i * stride of
// output i.
#define TW_PICK(t) ((t) == 0 ? k0 : (t) == 1 ? k1 : (t) == 2 ? k2 : (t) == 3 ? k3 : k4)
#define TW_USE(i, j)                                              \
  if (i < pixels && j - i * stride >= 0 && j - i * stride < taps) \
    s##i += TW_PICK(j - i * stride) * v;
#define TW_VALUE(j)                                                             \
  if (j < (pixels - 1) * stride + taps && first + j >= 0 && first + j < in_w) { \
    const float4 v = tw_load_part(input, (at + first + j) * n_channels + c, n); \
    TW_USE(0, j) TW_USE(1, j) TW_USE(2, j) TW_USE(3, j)                         \
  }
#define TW_STORE(i)                                          \
  if (i < pixels && x0 + i < out_w) {                        \
    const int to = (row * out_w + x0 + i) * n_channels + c;  \
    if (has_residual) s##i += tw_load_part(residual, to, n); \
    tw_store_part(output, to, n, tw_clamp4(s##i, lo, hi));   \
  }

// taps x taps, `pixels` outputs (at most 4); a line has (pixels - 1) * stride + taps values, at
// most 8.
TW_INLINE void tw_depthwise_rows(const int taps, const int stride, const int pixels,
                                 TW_DEPTHWISE_PARAMETERS) {
  const int c = (int)get_global_id(0) * 4;
  const int x0 = (int)get_global_id(1) * pixels;
  const int row = (int)get_global_id(2);
  if (c >= n_channels || x0 >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, n = min(4, n_channels - c);
  const int wide = (n_channels + 3) / 4 * 4, first = x0 * stride - pad_left;
  float4 s0 = tw_load4(0, bias + c), s1 = s0, s2 = s0, s3 = s0;
  for (int ky = 0; ky < taps; ++ky) {
    const int iy = oy * stride - pad_top + ky;
    if (iy < 0 || iy >= in_h) continue;
    const int at = (b * in_h + iy) * in_w;
    tw_in k = filter + ky * taps * wide + c;
    const float4 k0 = tw_load4(0, k), k1 = tw_load4(0, k + wide), k2 = tw_load4(0, k + 2 * wide);
    const float4 k3 = taps > 3 ? tw_load4(0, k + 3 * wide) : k2;
    const float4 k4 = taps > 3 ? tw_load4(0, k + 4 * wide) : k2;
    TW_VALUE(0) TW_VALUE(1) TW_VALUE(2) TW_VALUE(3) TW_VALUE(4) TW_VALUE(5) TW_VALUE(6) TW_VALUE(7)
  }
  TW_STORE(0) TW_STORE(1) TW_STORE(2) TW_STORE(3)
}

TW_KERNEL_FOR(depthwise_rows, 3x3_1)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(3, 1, 4, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(depthwise_rows, 3x3_2)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(3, 2, 2, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(depthwise_rows, 5x5_1)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(5, 1, 4, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(depthwise_rows, 5x5_2)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(5, 2, 2, TW_DEPTHWISE_ARGUMENTS);
}
