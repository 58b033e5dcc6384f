// CONV_2D and FULLY_CONNECTED of int8 and uint8, NHWC: products of bytes summed in 32 bits, brought
// to the output's scale as TFLite's reference kernels do it, to the bit.
//
// Four output channels of 1 or 4 pixels per work-item. Bytes are taken as signed after an XOR with
// `flip` (0x80 for uint8); zero points are those of the signed values. Weights come as [tap][four
// input channels][four output channels of a group][4 outputs x 4 inputs], zeros where channels are
// rounded up. `epilogues` holds, for every output channel rounded up likewise: the bias with all
// that zero points add to it and no pixel's value changes; then what tw_rescale takes. Padding holds
// the zero point. x: fours of output channels, group by group; y: blocks of the pixels of all images.

inline char4 tw_four_bytes(const __global uchar* p, int i, int n, uchar4 flip) {
  if (n >= 4) return as_char4(vload4(0, p + i) ^ flip);
  char4 v = (char4)(0);
  v.x = as_char((uchar)(p[i] ^ flip.x));
  if (n > 1) v.y = as_char((uchar)(p[i + 1] ^ flip.x));
  if (n > 2) v.z = as_char((uchar)(p[i + 2] ^ flip.x));
  return v;
}

// sums + w v for four outputs.
inline int4 tw_products(char16 w, char4 v, int4 sums) {
#ifdef TW_DOT
  const uint x = as_uint(v);
  return sums + (int4)(dot_4x8packed_ss_int(as_uint(w.s0123), x),
                       dot_4x8packed_ss_int(as_uint(w.s4567), x),
                       dot_4x8packed_ss_int(as_uint(w.s89ab), x),
                       dot_4x8packed_ss_int(as_uint(w.scdef), x));
#else
  return sums + (int)v.x * convert_int4(w.s048c) + (int)v.y * convert_int4(w.s159d) +
         (int)v.z * convert_int4(w.s26ae) + (int)v.w * convert_int4(w.s37bf);
#endif
}

#define TW_PARAMETERS                                                                              \
  const __global uchar *input, const __global char *weights, const __global int *epilogues,        \
      __global uchar *output, int in_h, int in_w, int in_c, int out_h, int out_w, int out_c,       \
      int group_in, int group_out, int filter_h, int filter_w, int stride_h, int stride_w,         \
      int dilation_h, int dilation_w, int pad_top, int pad_left, int n_pixels, int flip, int zero, \
      int weight_zero, int by_reals, int lo, int hi, int out_zero
#define TW_ARGUMENTS                                                                               \
  input, weights, epilogues, output, in_h, in_w, in_c, out_h, out_w, out_c, group_in, group_out,   \
      filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, n_pixels, \
      flip, zero, weight_zero, by_reals, lo, hi, out_zero

#define TW_PLACE(i)                                                                  \
  const int iy##i = top.s##i + ky * dilation_h, ix##i = left.s##i + kx * dilation_w; \
  const int at##i = iy##i >= 0 && iy##i < in_h && ix##i >= 0 && ix##i < in_w         \
                        ? ((image.s##i * in_h + iy##i) * in_w + ix##i) * in_c + from \
                        : -1;
#define TW_ADD(i)                                                                               \
  if (pixels > i) {                                                                             \
    const char4 v = at##i < 0 ? nothing : tw_four_bytes(input, at##i + c, group_in - c, flips); \
    s##i = tw_products(w, v, s##i);                                                             \
    if (weight_zero != 0) t.s##i += v.x + v.y + v.z + v.w;                                      \
  }
#define TW_END(i)                                                                       \
  if (pixels > i && first + i < n_pixels) {                                             \
    const int4 sums = s##i - weight_zero * t.s##i;                                      \
    __global uchar* to = output + (first + i) * out_c + g * group_out + oc;             \
    const __global int* e = epilogues + 16 * q;                                         \
    to[0] = tw_end(sums.x, e, by_reals, lo, hi, out_zero);                              \
    if (oc + 1 < group_out) to[1] = tw_end(sums.y, e + 4, by_reals, lo, hi, out_zero);  \
    if (oc + 2 < group_out) to[2] = tw_end(sums.z, e + 8, by_reals, lo, hi, out_zero);  \
    if (oc + 3 < group_out) to[3] = tw_end(sums.w, e + 12, by_reals, lo, hi, out_zero); \
  }

TW_INLINE void tw_integer_product(const int pixels, TW_PARAMETERS) {
  const int q = (int)get_global_id(0), first = (int)get_global_id(1) * pixels;
  const int per_group = (group_out + 3) / 4, n_quads = out_c / group_out * per_group;
  if (q >= n_quads || first >= n_pixels) return;
  const int g = q / per_group, oc = (q - g * per_group) * 4, from = g * group_in;
  const int4 pixel = min(first + (int4)(0, 1, 2, 3), (int4)(n_pixels - 1));
  const int4 row = pixel / out_w, image = row / out_h;
  const int4 left = (pixel - row * out_w) * stride_w - pad_left;
  const int4 top = (row - image * out_h) * stride_h - pad_top;
  const uchar4 flips = (uchar4)((uchar)flip);
  int4 s0 = (int4)(0), s1 = s0, s2 = s0, s3 = s0, t = s0;
  const __global char* k = weights + 16 * q;
  for (int ky = 0; ky < filter_h; ++ky) {
    for (int kx = 0; kx < filter_w; ++kx) {
      TW_PLACE(0)
      TW_PLACE(1) TW_PLACE(2) TW_PLACE(3) for (int c = 0; c < group_in; c += 4, k += 16 * n_quads) {
        const char16 w = vload16(0, k);
        const char z = (char)zero;
        const char4 nothing =
            (char4)(z, c + 1 < group_in ? z : (char)0, c + 2 < group_in ? z : (char)0,
                    c + 3 < group_in ? z : (char)0);
        TW_ADD(0) TW_ADD(1) TW_ADD(2) TW_ADD(3)
      }
    }
  }
  TW_END(0) TW_END(1) TW_END(2) TW_END(3)
}

TW_KERNEL_FOR(integer_product, 1)(TW_PARAMETERS) { tw_integer_product(1, TW_ARGUMENTS); }

TW_KERNEL_FOR(integer_product, 4)(TW_PARAMETERS) { tw_integer_product(4, TW_ARGUMENTS); }
