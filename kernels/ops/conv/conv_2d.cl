// CONV_2D, NHWC, directly: a work-item computes a block of TW_PIXELS neighbouring pixels of a row
// by TW_CHANNELS output channels (4 or 8) and keeps it in registers. A program is compiled for one
// size of block, after which its kernel is named: conv_2d_f32_4x8.
//
// Weights come as [group][ky][kx][input channel][output channel of the group, rounded up to
// TW_CHANNELS], bias as TW_ZEROS zeros and [group][the same]. Loops over TW_PIXELS, TW_FOURS and
// TW_SUMS unroll, and arrays of these sizes are registers.
//
// With TW_HALF_PRODUCTS eight input channels are multiplied in half at a time.
//
// x: blocks of channels of all groups; y: blocks of pixels of a row; z: rows of all images.
#define TW_FOURS (TW_CHANNELS / 4)
#define TW_ZEROS 8
#define TW_SUMS tw_sums(TW_PIXELS * TW_FOURS)
#define TW_WEIGHT_LINE TW_NAME2(tw_weight_line, TW_CHANNELS)

#define TW_BLOCK_OF(pixels, channels) pixels##x##channels
#define TW_CONV_KERNEL(pixels, channels) TW_KERNEL_FOR(conv_2d, TW_BLOCK_OF(pixels, channels))

// Four channels, of which `left` lie inside the tensor.
inline void tw_conv_2d_store(tw_in residual, tw_out output, int at, int column, int left,
                             int has_residual, float4 v, float lo, float hi TW_TAIL) {
  const int n = min(4, left);
  if (n <= 0) return;
  if (has_residual) v += tw_load_part(residual, at, n);
  tw_finish(output, at, column, n, tw_clamp4(v, lo, hi));
}

TW_CONV_KERNEL(TW_PIXELS, TW_CHANNELS)(
    tw_in restrict input, TW_WEIGHTS weights, tw_in restrict bias, tw_in restrict residual,
    tw_out restrict output, int in_h, int in_w, int in_c, int out_h, int out_w, int out_c,
    int group_in, int group_out,  // channels of a group
    int filter_h, int filter_w, int stride_h, int stride_w, int dilation_h, int dilation_w,
    int pad_top, int pad_left, int has_residual, int n_rows, float lo, float hi TW_TAIL) {
  const int blocks = (group_out + TW_CHANNELS - 1) / TW_CHANNELS, wide = blocks * TW_CHANNELS;
  const int line = blocks * TW_FOURS * TW_STEP;
  const int g = (int)get_global_id(0) / blocks;
  const int oc = ((int)get_global_id(0) - g * blocks) * TW_CHANNELS;
  const int x0 = (int)get_global_id(1) * TW_PIXELS, row = (int)get_global_id(2);
  if (g * group_out >= out_c || x0 >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h;

  float4 sum[TW_PIXELS][TW_FOURS][TW_SUMS];
#pragma unroll
  for (int f = 0; f < TW_FOURS; ++f) {
    const float4 start = tw_aligned4(bias + TW_ZEROS + g * wide + oc + 4 * f);
#pragma unroll
    for (int p = 0; p < TW_PIXELS; ++p) {
#pragma unroll
      for (int s = 0; s < TW_SUMS; ++s) sum[p][f][s] = s == 0 ? start : (float4)(0.0f);
    }
  }

  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    for (int kx = 0; kx < filter_w; ++kx) {
      // A pixel outside the image is read from the zeros that the bias begins with: so the loop
      // over the channels need not ask.
      tw_in from[TW_PIXELS];
      int step[TW_PIXELS];
#pragma unroll
      for (int p = 0; p < TW_PIXELS; ++p) {
        const int ix = (x0 + p) * stride_w - pad_left + kx * dilation_w;
        const bool inside = ix >= 0 && ix < in_w;
        from[p] = inside ? input + (((b * in_h + iy) * in_w + ix) * in_c + g * group_in) : bias;
        step[p] = inside ? 1 : 0;
      }
      tw_weight_row w = TW_FIRST(weights) +
                        ((g * filter_h + ky) * filter_w + kx) * group_in * line + oc / 4 * TW_STEP;
      int c = 0;
#ifdef TW_HALF_PRODUCTS
      for (; c + 8 <= group_in; c += 8, w += 8 * line) {
        tw_half4 k[TW_FOURS][8];
#pragma unroll
        for (int f = 0; f < TW_FOURS; ++f) tw_half_lines8(k[f], weights, w + f * TW_STEP, line)
#pragma unroll
        for (int p = 0; p < TW_PIXELS; ++p) {
          const tw_half4 v0 = tw_half4_at(from[p]), v1 = tw_half4_at(from[p] + 4);
          from[p] += 8 * step[p];
#pragma unroll
          for (int f = 0; f < TW_FOURS; ++f) tw_chain(sum[p][f][0], v0, v1, k[f])
        }
      }
      if (c + 4 <= group_in) {
#else
      for (; c + 4 <= group_in; c += 4, w += 4 * line) {
#endif
        float4 v[TW_PIXELS];
#pragma unroll
        for (int p = 0; p < TW_PIXELS; ++p) {
          v[p] = tw_load4(0, from[p]);
          from[p] += 4 * step[p];
        }
        float4 k[4][TW_FOURS];
#pragma unroll
        for (int j = 0; j < 4; ++j) TW_WEIGHT_LINE(k[j], weights, w + j * line)
#pragma unroll
        for (int f = 0; f < TW_FOURS; ++f) {
#pragma unroll
          for (int p = 0; p < TW_PIXELS; ++p) {
            tw_products4(sum[p][f][0], sum[p][f][1 % TW_SUMS], sum[p][f][2 % TW_SUMS],
                         sum[p][f][3 % TW_SUMS], v[p], k[0][f], k[1][f], k[2][f], k[3][f])
          }
        }
      }
#ifndef TW_ALIGNED
      for (; c < group_in; ++c, w += line) {
#pragma unroll
        for (int f = 0; f < TW_FOURS; ++f) {
          const float4 k = tw_weight4(weights, w + f * TW_STEP);
#pragma unroll
          for (int p = 0; p < TW_PIXELS; ++p) {
            sum[p][f][0] += k * (float)tw_load(0, from[p]);
          }
        }
#pragma unroll
        for (int p = 0; p < TW_PIXELS; ++p) from[p] += step[p];
      }
#endif
    }
  }

#pragma unroll
  for (int p = 0; p < TW_PIXELS; ++p) {
    if (x0 + p >= out_w) continue;
    const int at = (row * out_w + x0 + p) * out_c + g * group_out + oc;
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) {
      float4 total = sum[p][f][0];
#pragma unroll
      for (int s = 1; s < TW_SUMS; ++s) total += sum[p][f][s];
      tw_conv_2d_store(residual, output, at + 4 * f, g * group_out + oc + 4 * f,
                       group_out - oc - 4 * f, has_residual, total, lo, hi TW_PASS);
    }
  }
}
