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

#define TW_TAP(i)                                                                                  \
  {                                                                                                \
    const int iy = top.s##i + ky * dilation_h, ix = left.s##i + kx * dilation_w;                   \
    if (iy >= 0 && iy < in_h && ix >= 0 && ix < in_w) {                                            \
      s##i += k * tw_channels(input, ((image.s##i * in_h + iy) * in_w + ix) * in_c, c, multiplier, \
                              mid_c);                                                              \
    }                                                                                              \
  }

// What a work-item adds to a row of its block, and what it stores of it.
#define TW_ADD_ONE(r, f)                                            \
  {                                                                 \
    const float4 v = *(const __local float4*)(a + (r)*depth + i);   \
    tw_product4(sum[r], v, b0, b1, b2, b3)                          \
  }
#define TW_END_ONE(r, f)                                           \
  if (first + quad * 4 + (r) < n_pixels) {                         \
    const int at = (first + quad * 4 + (r)) * out_c + column;      \
    float4 v = sum[r];                                             \
    if (has_residual) v += tw_load_part(residual, at, n);          \
    tw_finish(output, at, column, n, tw_clamp4(v, lo, hi));        \
  }

TW_KERNEL(depthwise_pointwise)(tw_in restrict input, tw_in restrict taps, tw_in restrict mid_bias,
                               tw_in restrict filter, tw_in restrict bias, tw_in restrict residual,
                               tw_out restrict output, int in_h, int in_w, int in_c, int out_h,
                               int out_w, int mid_c, int multiplier, int out_c, int filter_h,
                               int filter_w, int stride_h, int stride_w, int dilation_h,
                               int dilation_w, int pad_top, int pad_left, int tile_pixels,
                               int n_pixels, float mid_lo, float mid_hi, int has_residual,
                               float lo, float hi TW_TAIL) {
  __local float4 fours_of_tile[TW_TILE / 4];
  __local float* tile = (__local float*)fours_of_tile;
  const int id = (int)get_local_id(0);
  const int first = tw_group_id(0) * tile_pixels;
  const int fours = (mid_c + 3) / 4, depth = fours * 4;
  for (int unit = id; unit < tile_pixels / 4 * fours; unit += TW_GROUP) {
    const int quad = unit / fours, c = (unit - quad * fours) * 4;
    const int4 pixel = min(first + quad * 4 + (int4)(0, 1, 2, 3), (int4)(n_pixels - 1));
    const int4 row = pixel / out_w, image = row / out_h;
    const int4 left = (pixel - row * out_w) * stride_w - pad_left;
    const int4 top = (row - image * out_h) * stride_h - pad_top;
    float4 s0 = tw_aligned4(mid_bias + c), s1 = s0, s2 = s0, s3 = s0;
    for (int ky = 0; ky < filter_h; ++ky) {
      for (int kx = 0; kx < filter_w; ++kx) {
        const float4 k = tw_aligned4(taps + (ky * filter_w + kx) * depth + c);
        TW_TAP(0) TW_TAP(1) TW_TAP(2) TW_TAP(3)
      }
    }
    __local float* to = tile + quad * 4 * depth + c;
    *(__local float4*)to = tw_clamp4(s0, mid_lo, mid_hi);
    *(__local float4*)(to + depth) = tw_clamp4(s1, mid_lo, mid_hi);
    *(__local float4*)(to + 2 * depth) = tw_clamp4(s2, mid_lo, mid_hi);
    *(__local float4*)(to + 3 * depth) = tw_clamp4(s3, mid_lo, mid_hi);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int columns = (out_c + 3) / 4, wide = columns * 4;
  for (int block = id; block < tile_pixels / 4 * columns; block += TW_GROUP) {
    const int quad = block / columns, column = (block - quad * columns) * 4;
    const __local float* a = tile + quad * 4 * depth;
    tw_in b = filter + column;
    const float4 start = tw_aligned4(bias + column);
    float4 sum[4];
    sum[0] = sum[1] = sum[2] = sum[3] = start;
    for (int i = 0; i < depth; i += 4, b += 4 * wide) {
      const float4 b0 = tw_aligned4(b), b1 = tw_aligned4(b + wide);
      const float4 b2 = tw_aligned4(b + 2 * wide), b3 = tw_aligned4(b + 3 * wide);
      tw_rows_4(TW_ADD_ONE, 0)
    }
    const int n = min(4, out_c - column);
    tw_rows_4(TW_END_ONE, 0)
  }
}
