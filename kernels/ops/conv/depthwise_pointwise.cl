// DEPTHWISE_CONV_2D and the pointwise CONV_2D that reads it in one launch, NHWC: what lies between
// them never leaves the work-group.
//
// A work-group of 64 items first computes the depthwise results of its `tile_pixels` (a multiple of
// 4) pixels into local memory, as float32 [pixel][channel, rounded up to fours], then multiplies
// them by the pointwise filter: blocks of 4 pixels by 4 channels in registers, as gemm.cl does.
// Both weights come as [tap or input channel][output channel], both dimensions of the pointwise
// ones, the channels of the depthwise ones and both biases rounded up to fours with zeros. Groups
// in x: tiles of the pixels of all images.

#define TW_GROUP 64
#define TW_TILE 5120

// The input channels that four depthwise channels from c on read.
inline float4 tw_channels(tw_in input, int at, int c, int multiplier, int n_channels) {
  if (multiplier == 1) return tw_load_part(input, at + c, n_channels - c);
  const int last = n_channels - 1;
  return (float4)(tw_load(at + c / multiplier, input),
                  tw_load(at + min(c + 1, last) / multiplier, input),
                  tw_load(at + min(c + 2, last) / multiplier, input),
                  tw_load(at + min(c + 3, last) / multiplier, input));
}

#define TW_TAP(i)                                                                                  \
  {                                                                                                \
    const int iy = top.s##i + ky * dilation_h, ix = left.s##i + kx * dilation_w;                   \
    if (iy >= 0 && iy < in_h && ix >= 0 && ix < in_w) {                                            \
      s##i += k * tw_channels(input, ((image.s##i * in_h + iy) * in_w + ix) * in_c, c, multiplier, \
                              mid_c);                                                              \
    }                                                                                              \
  }

TW_KERNEL(depthwise_pointwise)(tw_in input, tw_in taps, tw_in mid_bias, tw_in filter, tw_in bias,
                               tw_in residual, tw_out output, int in_h, int in_w, int in_c,
                               int out_h, int out_w, int mid_c, int multiplier, int out_c,
                               int filter_h, int filter_w, int stride_h, int stride_w,
                               int dilation_h, int dilation_w, int pad_top, int pad_left,
                               int tile_pixels, int n_pixels, float mid_lo, float mid_hi,
                               int has_residual, float lo, float hi) {
  __local float tile[TW_TILE];
  const int id = (int)get_local_id(0);
  const int first = tw_group_id(0) * tile_pixels;
  const int fours = (mid_c + 3) / 4, depth = fours * 4;
  for (int unit = id; unit < tile_pixels / 4 * fours; unit += TW_GROUP) {
    const int quad = unit / fours, c = (unit - quad * fours) * 4;
    const int4 pixel = min(first + quad * 4 + (int4)(0, 1, 2, 3), (int4)(n_pixels - 1));
    const int4 row = pixel / out_w, image = row / out_h;
    const int4 left = (pixel - row * out_w) * stride_w - pad_left;
    const int4 top = (row - image * out_h) * stride_h - pad_top;
    float4 s0 = tw_load4(0, mid_bias + c), s1 = s0, s2 = s0, s3 = s0;
    for (int ky = 0; ky < filter_h; ++ky) {
      for (int kx = 0; kx < filter_w; ++kx) {
        const float4 k = tw_load4(0, taps + (ky * filter_w + kx) * depth + c);
        TW_TAP(0) TW_TAP(1) TW_TAP(2) TW_TAP(3)
      }
    }
    __local float* to = tile + quad * 4 * depth + c;
    vstore4(tw_clamp4(s0, mid_lo, mid_hi), 0, to);
    vstore4(tw_clamp4(s1, mid_lo, mid_hi), 0, to + depth);
    vstore4(tw_clamp4(s2, mid_lo, mid_hi), 0, to + 2 * depth);
    vstore4(tw_clamp4(s3, mid_lo, mid_hi), 0, to + 3 * depth);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int columns = (out_c + 3) / 4, wide = columns * 4;
  for (int block = id; block < tile_pixels / 4 * columns; block += TW_GROUP) {
    const int quad = block / columns, column = (block - quad * columns) * 4;
    const __local float* a = tile + quad * 4 * depth;
    float4 s0 = tw_load4(0, bias + column), s1 = s0, s2 = s0, s3 = s0;
    for (int i = 0; i < depth; i += 4) {
      tw_in b = filter + i * wide + column;
      const float4 b0 = tw_load4(0, b), b1 = tw_load4(0, b + wide);
      const float4 b2 = tw_load4(0, b + 2 * wide), b3 = tw_load4(0, b + 3 * wide);
      const float4 v0 = vload4(0, a + i), v1 = vload4(0, a + depth + i);
      const float4 v2 = vload4(0, a + 2 * depth + i), v3 = vload4(0, a + 3 * depth + i);
      s0 += v0.x * b0 + v0.y * b1 + v0.z * b2 + v0.w * b3;
      s1 += v1.x * b0 + v1.y * b1 + v1.z * b2 + v1.w * b3;
      s2 += v2.x * b0 + v2.y * b1 + v2.z * b2 + v2.w * b3;
      s3 += v3.x * b0 + v3.y * b1 + v3.z * b2 + v3.w * b3;
    }
    const float4 sums[4] = {s0, s1, s2, s3};
    const int n = min(4, out_c - column);
    for (int r = 0; r < 4 && first + quad * 4 + r < n_pixels; ++r) {
      const int at = (first + quad * 4 + r) * out_c + column;
      float4 v = sums[r];
      if (has_residual) v += tw_load_part(residual, at, n);
      tw_store_part(output, at, n, tw_clamp4(v, lo, hi));
    }
  }
}
