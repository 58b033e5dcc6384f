// DEPTHWISE_CONV_2D of int8 and uint8, NHWC, with the arithmetic of integer_product.cl: four
// channels of a pixel per work-item. The filter comes as [tap][channel, rounded up to fours] of
// int16, less its zero point; epilogues of tw_end4 have what the data's zero point adds. Bytes are
// taken as unsigned, which takes fewer instructions to unpack, after an XOR of four with `flip`;
// `padding` is four bytes of what lies outside of the image. With TW_ALIGNED each of a multiple of four channels has one filter. x: fours of output
// channels; y: pixels of a row; z: rows of all images.

TW_KERNEL(integer_depthwise)(const __global uchar* restrict input,
                             const __global short4* restrict filter,
                             const __global int4* restrict epilogues,
                             __global uchar* restrict output, int in_h, int in_w, int in_c,
                             int out_h, int out_w, int out_c, int filter_h, int filter_w,
                             int stride_h, int stride_w, int dilation_h, int dilation_w,
                             int pad_top, int pad_left, int n_rows, int flip, int padding, int lo,
                             int hi, int out_zero) {
  const int q = (int)get_global_id(0), c = q * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (c >= out_c || x >= out_w || row >= n_rows) return;
  const int b = row / out_h, oy = row - b * out_h, fours = (out_c + 3) / 4;
  const int top = oy * stride_h - pad_top, left = x * stride_w - pad_left;
#ifndef TW_ALIGNED
  const int last = out_c - 1, multiplier = out_c / in_c;
  const int4 channel = (int4)(c, min(c + 1, last), min(c + 2, last), min(c + 3, last)) / multiplier;
#endif
  int4 sums = (int4)(0);
  const __global short4* k = filter + q;
  for (int iy = top; iy < top + filter_h * dilation_h; iy += dilation_h) {
    for (int ix = left; ix < left + filter_w * dilation_w; ix += dilation_w, k += fours) {
      uint v = (uint)padding;
      if (iy >= 0 && iy < in_h && ix >= 0 && ix < in_w) {
        const __global uchar* from = input + ((b * in_h + iy) * in_w + ix) * in_c;
#ifdef TW_ALIGNED
        v = *(const __global uint*)(from + c) ^ (uint)flip;
#else
        v = from[channel.x] | (uint)from[channel.y] << 8 | (uint)from[channel.z] << 16 |
            (uint)from[channel.w] << 24;
        v ^= (uint)flip;
#endif
      }
      sums += convert_int4(*k) * convert_int4(as_uchar4(v));
    }
  }
  tw_end4(sums, epilogues + 4 * q, lo, hi, out_zero, output + (row * out_w + x) * out_c + c, out_c,
          out_c - c);
}
