// CONV_2D, NHWC, directly: a block of neighbouring pixels of a row by 4 or 8 output channels per
// work-item, kept in registers; conv_2d_PIXELSxCHANNELS.
//
// Weights come as [group][ky][kx][input channel][output channel of the group, rounded up to fours],
// bias as [group][the same]. x: blocks of channels of all groups; y: blocks of pixels of a row; z:
// rows of all images.

#define TW_CONV_PARAMETERS                                                                   \
  tw_in input, tw_in weights, tw_in bias, tw_in residual, tw_out output, int in_h, int in_w, \
      int in_c, int out_h, int out_w, int out_c, int group_in, int group_out, int filter_h,  \
      int filter_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int pad_top, \
      int pad_left, int has_residual, int n_rows, float lo, float hi
#define TW_CONV_ARGUMENTS                                                                  \
  input, weights, bias, residual, output, in_h, in_w, in_c, out_h, out_w, out_c, group_in, \
      group_out, filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_top,  \
      pad_left, has_residual, n_rows, lo, hi

// Pixels of a block; what lies behind `pixels` falls away when it is compiled.
#define TW_EACH(M)  \
  M(0)              \
  if (pixels > 1) { \
    M(1)            \
  }                 \
  if (pixels > 2) { \
    M(2) M(3)       \
  }
#define TW_BEGIN(i) s##i = start, t##i = start2;
// A tap outside the image reads pixel 0 of the line and counts nothing.
#define TW_TAP(i)                                                     \
  const int ix##i = (x0 + i) * stride_w - pad_left + kx * dilation_w; \
  const bool in##i = ix##i >= 0 && ix##i < in_w;                      \
  const int p##i = ((b * in_h + iy) * in_w + (in##i ? ix##i : 0)) * in_c + g * group_in;
#define TW_LOAD4(i)                     \
  v##i = tw_load4(0, input + p##i + c); \
  v##i = in##i ? v##i : (float4)(0.0f);
#define TW_SUM4(i) s##i += v##i.x * k0 + v##i.y * k1 + v##i.z * k2 + v##i.w * k3;
#define TW_SUM4_2(i) t##i += v##i.x * k0 + v##i.y * k1 + v##i.z * k2 + v##i.w * k3;
#define TW_SUM1(i)                      \
  {                                     \
    float v = tw_load(p##i + c, input); \
    v = in##i ? v : 0.0f;               \
    s##i += k0 * v;                     \
    if (fours > 1) t##i += k1 * v;      \
  }
#define TW_KERNEL4(at)                                                \
  const float4 k0 = tw_load4(0, (at)), k1 = tw_load4(0, (at) + wide); \
  const float4 k2 = tw_load4(0, (at) + 2 * wide), k3 = tw_load4(0, (at) + 3 * wide);
#define TW_STORE(i)                                                                               \
  if (x0 + i < out_w) {                                                                           \
    const int at = (row * out_w + x0 + i) * out_c + g * group_out + oc;                           \
    tw_conv_2d_store(residual, output, at, group_out - oc, has_residual, s##i, lo, hi);           \
    if (fours > 1)                                                                                \
      tw_conv_2d_store(residual, output, at + 4, group_out - oc - 4, has_residual, t##i, lo, hi); \
  }

TW_INLINE void tw_conv_2d_store(tw_in residual, tw_out output, int at, int left, int has_residual,
                                float4 v, float lo, float hi) {
  const int n = min(4, left);
  if (n <= 0) return;
  if (has_residual) v += tw_load_part(residual, at, n);
  tw_store_part(output, at, n, tw_clamp4(v, lo, hi));
}

// A block of 1, 2 or 4 pixels by 4 * `fours` channels (at most 8).
TW_INLINE void tw_conv_2d(const int pixels, const int fours, TW_CONV_PARAMETERS) {
  const int quads = (group_out + 3) / 4, blocks = (quads + fours - 1) / fours;
  const int q = (int)get_global_id(0);
  const int x0 = (int)get_global_id(1) * pixels;
  const int row = (int)get_global_id(2);
  const int g = q / blocks, oc = (q - g * blocks) * 4 * fours;
  if (g * group_out >= out_c || x0 >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h;
  const int wide = quads * 4;
  // Behind the last four the last four are computed once more, and not stored.
  const int second = min(oc + 4, wide - 4) - oc;
  const float4 start = tw_load4(0, bias + g * wide + oc);
  const float4 start2 = tw_load4(0, bias + g * wide + oc + second);
  float4 s0, s1, s2, s3, t0, t1, t2, t3, v0, v1, v2, v3;
  TW_EACH(TW_BEGIN)
  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    for (int kx = 0; kx < filter_w; ++kx) {
      TW_TAP(0)
      TW_TAP(1) TW_TAP(2) TW_TAP(3) tw_in w =
          weights + ((g * filter_h + ky) * filter_w + kx) * group_in * wide + oc;
      int c = 0;
      for (; c + 4 <= group_in; c += 4, w += 4 * wide) {
        TW_EACH(TW_LOAD4) {
          TW_KERNEL4(w)
          TW_EACH(TW_SUM4)
        }
        if (fours > 1) {
          TW_KERNEL4(w + second)
          TW_EACH(TW_SUM4_2)
        }
      }
      for (; c < group_in; ++c, w += wide) {
        const float4 k0 = tw_load4(0, w), k1 = tw_load4(0, w + second);
        TW_EACH(TW_SUM1)
      }
    }
  }
  TW_EACH(TW_STORE)
}

__kernel void conv_2d_1x4(TW_CONV_PARAMETERS) { tw_conv_2d(1, 1, TW_CONV_ARGUMENTS); }
__kernel void conv_2d_2x4(TW_CONV_PARAMETERS) { tw_conv_2d(2, 1, TW_CONV_ARGUMENTS); }
__kernel void conv_2d_4x4(TW_CONV_PARAMETERS) { tw_conv_2d(4, 1, TW_CONV_ARGUMENTS); }
__kernel void conv_2d_4x8(TW_CONV_PARAMETERS) { tw_conv_2d(4, 2, TW_CONV_ARGUMENTS); }
