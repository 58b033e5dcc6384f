// CONV_2D, NHWC: four output channels of four neighbouring pixels per work-item.
//
// Weights come as [group][ky][kx][input channel][output channel of the group, rounded up to fours],
// bias as [group][the same]. x: fours of channels of all groups; y: fours of pixels of a row;
// z: rows of all images.

__kernel void conv_2d(tw_in input, tw_in weights, tw_in bias, tw_in residual, tw_out output,
                      int in_h, int in_w, int in_c, int out_h, int out_w, int out_c, int group_in,
                      int group_out, int filter_h, int filter_w, int stride_h, int stride_w,
                      int dilation_h, int dilation_w, int pad_top, int pad_left, int has_residual,
                      int n_rows, float lo, float hi) {
  const int quads = (group_out + 3) / 4;
  const int q = (int)get_global_id(0);
  const int x0 = (int)get_global_id(1) * 4;
  const int row = (int)get_global_id(2);
  if (q >= quads * (out_c / group_out) || x0 >= out_w || row >= n_rows) return;
  const int g = q / quads, oc = (q - g * quads) * 4;
  const int b = row / out_h, oy = row - b * out_h;
  const int wide = quads * 4;
  float4 s0 = tw_load4(0, bias + g * wide + oc), s1 = s0, s2 = s0, s3 = s0;
  const int ix = x0 * stride_w - pad_left;
  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    const int line = (b * in_h + iy) * in_w;
    for (int kx = 0; kx < filter_w; ++kx) {
      const int t0 = ix + kx * dilation_w, t1 = t0 + stride_w, t2 = t1 + stride_w,
                t3 = t2 + stride_w;
      // A tap outside the image reads pixel 0 of the line and counts nothing.
      const float m0 = t0 >= 0 && t0 < in_w ? 1.0f : 0.0f;
      const float m1 = t1 >= 0 && t1 < in_w ? 1.0f : 0.0f;
      const float m2 = t2 >= 0 && t2 < in_w ? 1.0f : 0.0f;
      const float m3 = t3 >= 0 && t3 < in_w ? 1.0f : 0.0f;
      const int p0 = (line + (m0 > 0.0f ? t0 : 0)) * in_c + g * group_in;
      const int p1 = (line + (m1 > 0.0f ? t1 : 0)) * in_c + g * group_in;
      const int p2 = (line + (m2 > 0.0f ? t2 : 0)) * in_c + g * group_in;
      const int p3 = (line + (m3 > 0.0f ? t3 : 0)) * in_c + g * group_in;
      int w = (((g * filter_h + ky) * filter_w + kx) * group_in) * wide + oc;
      for (int c = 0; c < group_in; ++c, w += wide) {
        const float4 k = tw_load4(0, weights + w);
        const float v0 = tw_load(p0 + c, input), v1 = tw_load(p1 + c, input);
        const float v2 = tw_load(p2 + c, input), v3 = tw_load(p3 + c, input);
        s0 += k * (m0 > 0.0f ? v0 : 0.0f);
        s1 += k * (m1 > 0.0f ? v1 : 0.0f);
        s2 += k * (m2 > 0.0f ? v2 : 0.0f);
        s3 += k * (m3 > 0.0f ? v3 : 0.0f);
      }
    }
  }
  const int n = min(4, group_out - oc);
  const float4 sums[4] = {s0, s1, s2, s3};
  for (int i = 0; i < 4 && x0 + i < out_w; ++i) {
    const int at = (row * out_w + x0 + i) * out_c + g * group_out + oc;
    float4 v = sums[i];
    if (has_residual) v += tw_load_part(residual, at, n);
    tw_store_part(output, at, n, tw_clamp4(v, lo, hi));
  }
}
