// DEPTHWISE_CONV_2D of int8 and uint8 as integer_depthwise.cl has it, with 3x3 or 5x5 taps, stride
// 1 or 2, dilation 1 and one filter per channel: a line of the image is loaded into registers once
// and serves all taps and pixels. Four channels of 4 neighbouring pixels (stride 2: of 2) per
// work-item. With TW_ALIGNED channels are a multiple of four. x: fours of channels; y: blocks of
// pixels of a row; z: rows of all images.

// The arguments are those of integer_depthwise, without `restrict`: oclgrind cannot run what clang
// makes of it where functions are inlined.
#define TW_DEPTHWISE_PARAMETERS                                                                  \
  const __global uchar *input, const __global short4 *filter, const __global int4 *epilogues,    \
      __global uchar *output, int in_h, int in_w, int in_c, int out_h, int out_w, int out_c,     \
      int filter_h, int filter_w, int stride_h, int stride_w, int dilation_h, int dilation_w,    \
      int pad_top, int pad_left, int n_rows, int flip, int padding, int lo, int hi, int out_zero
#define TW_DEPTHWISE_ARGUMENTS                                                               \
  input, filter, epilogues, output, in_h, in_w, in_c, out_h, out_w, out_c, filter_h,         \
      filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, n_rows, flip, \
      padding, lo, hi, out_zero

// The conditions are known when it is compiled: value j of the line meets tap j - i * stride of
// output i.
#define TW_PICK(t) ((t) == 0 ? k0 : (t) == 1 ? k1 : (t) == 2 ? k2 : (t) == 3 ? k3 : k4)
#define TW_USE(i, j)                                              \
  if (i < pixels && j - i * stride >= 0 && j - i * stride < taps) \
    s##i += TW_PICK(j - i * stride) * v;
#define TW_VALUE(j)                                                                         \
  if (j < (pixels - 1) * stride + taps) {                                                   \
    uint word = (uint)padding;                                                              \
    if (is_inside && first + j >= 0 && first + j < in_w) {                                  \
      word = tw_word(input + (at + first + j) * out_c + c, n) ^ (uint)flip;                 \
    }                                                                                       \
    const int4 v = convert_int4(as_uchar4(word));                                            \
    TW_USE(0, j) TW_USE(1, j) TW_USE(2, j) TW_USE(3, j)                                     \
  }
#define TW_STORE(i)                                                                         \
  if (i < pixels && x0 + i < out_w) {                                                       \
    tw_end4(s##i, epilogues + 4 * q, lo, hi, out_zero,                                      \
            output + (row * out_w + x0 + i) * out_c + c, out_c, n);                         \
  }

// taps x taps, `pixels` outputs (at most 4); a line has (pixels - 1) * stride + taps values, at
// most 8.
TW_INLINE void tw_depthwise_rows(const int taps, const int stride, const int pixels,
                                 TW_DEPTHWISE_PARAMETERS) {
  const int q = (int)get_global_id(0), c = q * 4;
  const int x0 = (int)get_global_id(1) * pixels;
  const int row = (int)get_global_id(2);
  if (c >= out_c || x0 >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, n = out_c - c;
  const int fours = (out_c + 3) / 4, first = x0 * stride - pad_left;
  int4 s0 = (int4)(0), s1 = s0, s2 = s0, s3 = s0;
#pragma unroll 1
  for (int ky = 0; ky < taps; ++ky) {
    const int iy = oy * stride - pad_top + ky, at = (b * in_h + iy) * in_w;
    const int is_inside = iy >= 0 && iy < in_h;
    const __global short4* k = filter + ky * taps * fours + q;
    const int4 k0 = convert_int4(k[0]), k1 = convert_int4(k[fours]);
    const int4 k2 = convert_int4(k[2 * fours]);
    const int4 k3 = taps > 3 ? convert_int4(k[3 * fours]) : k2;
    const int4 k4 = taps > 3 ? convert_int4(k[4 * fours]) : k2;
    TW_VALUE(0) TW_VALUE(1) TW_VALUE(2) TW_VALUE(3) TW_VALUE(4) TW_VALUE(5) TW_VALUE(6) TW_VALUE(7)
  }
  TW_STORE(0) TW_STORE(1) TW_STORE(2) TW_STORE(3)
}

TW_KERNEL_FOR(integer_depthwise_rows, 3x3_1)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(3, 1, 4, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(integer_depthwise_rows, 3x3_2)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(3, 2, 2, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(integer_depthwise_rows, 5x5_1)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(5, 1, 4, TW_DEPTHWISE_ARGUMENTS);
}

TW_KERNEL_FOR(integer_depthwise_rows, 5x5_2)(TW_DEPTHWISE_PARAMETERS) {
  tw_depthwise_rows(5, 2, 2, TW_DEPTHWISE_ARGUMENTS);
}
