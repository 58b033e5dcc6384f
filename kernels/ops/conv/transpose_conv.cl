// TRANSPOSE_CONV, NHWC: four output channels of a pixel per work-item, which gathers its taps.
//
// Output row oy sees input row iy through filter row ky = oy + pad_top - iy * stride_h. `firsts`
// holds the first such iy for each output row, then the same for columns. Weights come as
// [ky][kx][input channel][output channel rounded up to fours], bias as [the same]. x: fours of
// channels; y: columns; z: rows of all images.

TW_KERNEL(transpose_conv)(tw_in restrict input, tw_in restrict weights, tw_in restrict bias,
                          tw_out restrict output, const __global int* restrict firsts, int in_h,
                          int in_w, int in_c, int out_h, int out_w, int out_c, int filter_w,
                          int stride_h, int stride_w, int pad_top, int pad_left, int n_rows,
                          float lo, float hi TW_TAIL) {
  const int oc = (int)get_global_id(0) * 4;
  const int x = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  if (oc >= out_c || x >= out_w || row >= n_rows) return;
  const int wide = (out_c + 3) / 4 * 4;
  const int b = row / out_h, y = row - b * out_h;
  float4 sum = tw_aligned4(bias + oc), sum1 = (float4)(0.0f), sum2 = sum1, sum3 = sum1;
  for (int iy = firsts[y]; iy < in_h; ++iy) {
    const int ky = y + pad_top - iy * stride_h;
    if (ky < 0) break;
    for (int ix = firsts[out_h + x]; ix < in_w; ++ix) {
      const int kx = x + pad_left - ix * stride_w;
      if (kx < 0) break;
      tw_in from = input + ((b * in_h + iy) * in_w + ix) * in_c;
      tw_in w = weights + (ky * filter_w + kx) * in_c * wide + oc;
      int c = 0;
      for (; c + 4 <= in_c; c += 4, w += 4 * wide) {
        const float4 v = tw_load4(0, from + c);
        const float4 w0 = tw_aligned4(w), w1 = tw_aligned4(w + wide);
        const float4 w2 = tw_aligned4(w + 2 * wide), w3 = tw_aligned4(w + 3 * wide);
        tw_products4(sum, sum1, sum2, sum3, v, w0, w1, w2, w3)
      }
#ifndef TW_ALIGNED
      for (; c < in_c; ++c, w += wide) sum += (float)tw_load(c, from) * tw_aligned4(w);
#endif
    }
  }
  sum += sum1 + sum2 + sum3;
  tw_finish(output, (row * out_w + x) * out_c + oc, oc, min(4, out_c - oc), tw_clamp4(sum, lo, hi));
}
