// DEPTHWISE_CONV_2D of int8 and uint8, NHWC, with the arithmetic of integer_product.cl: four
// channels of a pixel per work-item. The filter comes as [tap][channel, rounded up to fours],
// signed; epilogues as there. Products are added as floats, exactly: at most 256 taps. With
// TW_ALIGNED each of a multiple of four channels has one filter. x: fours of output channels; y:
// pixels of a row; z: rows of all images.

TW_KERNEL(integer_depthwise)(const __global uchar* restrict input,
                             const __global char* restrict filter,
                             const __global int4* restrict epilogues,
                             __global uchar* restrict output, int in_h, int in_w, int in_c,
                             int out_h, int out_w, int out_c, int multiplier, int filter_h,
                             int filter_w, int stride_h, int stride_w, int dilation_h,
                             int dilation_w, int pad_top, int pad_left, int n_rows, int flip,
                             int zero, int weight_zero, int lo, int hi, int out_zero) {
  const int c = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= out_c || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, wide = (out_c + 3) / 4 * 4;
  const float no_value = (float)zero, no_weight = (float)weight_zero;
  const uint flips = (uint)flip * 0x01010101u;
#ifndef TW_ALIGNED
  const int last = out_c - 1;
  const int4 channel = (int4)(c, min(c + 1, last), min(c + 2, last), min(c + 3, last)) / multiplier;
#endif
  float4 sums = (float4)(0.0f);
  for (int ky = 0; ky < filter_h; ++ky) {
    const int iy = oy * stride_h - pad_top + ky * dilation_h;
    if (iy < 0 || iy >= in_h) continue;
    for (int kx = 0; kx < filter_w; ++kx) {
      const int ix = x * stride_w - pad_left + kx * dilation_w;
      if (ix < 0 || ix >= in_w) continue;
      const __global uchar* from = input + ((b * in_h + iy) * in_w + ix) * in_c;
#ifdef TW_ALIGNED
      const uint bytes = *(const __global uint*)(from + c);
#else
      const uint bytes = as_uint((uchar4)(from[channel.x], from[channel.y], from[channel.z],
                                          from[channel.w]));
#endif
      const uint k = *(const __global uint*)(filter + (ky * filter_w + kx) * wide + c);
      sums += (convert_float4(as_char4(k)) - no_weight) *
              (convert_float4(as_char4(bytes ^ flips)) - no_value);
    }
  }
#ifdef TW_ALIGNED
  const int n = 4;
#else
  const int n = out_c - c;
#endif
  tw_end4(convert_int4(sums), epilogues + c, lo, hi, out_zero,
          output + (row * out_w + x) * out_c + c, n);
}
