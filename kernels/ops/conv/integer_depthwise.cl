// DEPTHWISE_CONV_2D of int8 and uint8, NHWC, with the arithmetic of integer_product.cl: four
// channels of a pixel per work-item. The filter comes as [tap][channel, rounded up to fours],
// signed; epilogues as there. x: fours of output channels; y: pixels of a row; z: rows of all
// images.

// A byte as signed, less the zero point.
#define tw_value(i) ((int)as_char((uchar)(input[i] ^ flip)) - zero)

TW_KERNEL(integer_depthwise)(const __global uchar* input, const __global char* filter,
                             const __global int* epilogues, __global uchar* output, int in_h,
                             int in_w, int in_c, int out_h, int out_w, int out_c, int multiplier,
                             int filter_h, int filter_w, int stride_h, int stride_w,
                             int dilation_h, int dilation_w, int pad_top, int pad_left,
                             int n_rows, int flip, int zero, int weight_zero, int lo, int hi,
                             int out_zero) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= out_c || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, wide = (out_c + 3) / 4 * 4, last = out_c - 1;
  const int4 channel = (int4)(c, min(c + 1, last), min(c + 2, last), min(c + 3, last)) / multiplier;
  int4 sums = (int4)(0);
  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    for (int kx = 0; kx < filter_w; ++kx) {
      const int ix = x * stride_w - pad_left + kx * dilation_w;
      if (ix < 0 || ix >= in_w) continue;
      const int4 from = ((b * in_h + iy) * in_w + ix) * in_c + channel;
      const int4 k = convert_int4(vload4(0, filter + (ky * filter_w + kx) * wide + c));
      sums += (k - weight_zero) *
              (int4)(tw_value(from.x), tw_value(from.y), tw_value(from.z), tw_value(from.w));
    }
  }
  const __global int* e = epilogues + 4 * c;
  __global uchar* to = output + (row * out_w + x) * out_c + c;
  to[0] = tw_end(sums.x, e, 0, lo, hi, out_zero);
  if (c + 1 < out_c) to[1] = tw_end(sums.y, e + 4, 0, lo, hi, out_zero);
  if (c + 2 < out_c) to[2] = tw_end(sums.z, e + 8, 0, lo, hi, out_zero);
  if (c + 3 < out_c) to[3] = tw_end(sums.w, e + 12, 0, lo, hi, out_zero);
}
