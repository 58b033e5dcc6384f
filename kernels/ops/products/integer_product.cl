// CONV_2D and FULLY_CONNECTED of int8 and uint8, NHWC: products of bytes summed in 32 bits, brought
// to the output's scale as TFLite's reference kernels do it, to the bit.
//
// Four output channels of 1 or 4 pixels per work-item. Bytes are taken as signed after an XOR with
// `flip` (0x80 for uint8); zero points are those of the signed values. Weights come as [tap][four
// input channels][four output channels of a group][4 outputs x 4 inputs], zeros where channels are
// rounded up. `epilogues` holds, for every four output channels: the biases with all that zero
// points add to them and no pixel's value changes; then what tw_rescale4 takes. Padding holds
// the zero point. x: fours of output channels, group by group; y: blocks of the pixels of all images.
//
// With TW_POINTWISE output pixel i reads input pixel i. With TW_ALIGNED channels of groups are
// multiples of four; with TW_WEIGHT_ZERO weights have a zero point. TW_DOT and TW_ARM_DOT use the
// extensions for products of four bytes; without them products are added as floats, exactly: a sum
// of 1024 products of bytes is at most 2^24.

#if defined(TW_DOT) || defined(TW_ARM_DOT)
#ifdef TW_ARM_DOT
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_int8 : enable
#define tw_dot(w, v) arm_dot(w, v)
#else
#define tw_dot(w, v) dot_4x8packed_ss_int(as_uint(w), as_uint(v))
#endif
typedef int4 tw_sum;
// sum + w v for four outputs.
inline int4 tw_products(char16 w, char4 v, int4 sum) {
  return sum + (int4)(tw_dot(w.s0123, v), tw_dot(w.s4567, v), tw_dot(w.s89ab, v),
                      tw_dot(w.scdef, v));
}
#else
typedef float4 tw_sum;
#define TW_FLOATS
#endif

inline char4 tw_four_bytes(const __global uchar* p, int i, int n, uint flips) {
#ifdef TW_ALIGNED
  return as_char4(*(const __global uint*)(p + i) ^ flips);
#else
  if (n >= 4) return as_char4(as_uint(vload4(0, p + i)) ^ flips);
  char4 v = (char4)(0);
  v.x = as_char((uchar)(p[i] ^ flips));
  if (n > 1) v.y = as_char((uchar)(p[i + 1] ^ flips));
  if (n > 2) v.z = as_char((uchar)(p[i + 2] ^ flips));
  return v;
#endif
}

#define TW_PARAMETERS                                                                              \
  const __global uchar *restrict input, const __global uint4 *restrict weights,                    \
      const __global int4 *restrict epilogues, __global uchar *restrict output, int in_h, int in_w, \
      int in_c, int out_h, int out_w, int out_c, int group_in, int group_out, int filter_h,        \
      int filter_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int pad_top,       \
      int pad_left, int n_pixels, int flip, int zero, int weight_zero, int lo,       \
      int hi, int out_zero
#define TW_ARGUMENTS                                                                               \
  input, weights, epilogues, output, in_h, in_w, in_c, out_h, out_w, out_c, group_in, group_out,   \
      filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, n_pixels, \
      flip, zero, weight_zero, lo, hi, out_zero

#ifdef TW_POINTWISE
#define TW_PLACE(i) const int at##i = pixel.s##i * in_c + from;
#define TW_VALUE(i) tw_four_bytes(input, at##i + c, group_in - c, flips)
#else
#define TW_PLACE(i)                                                                  \
  const int iy##i = top.s##i + ky * dilation_h, ix##i = left.s##i + kx * dilation_w; \
  const int at##i = iy##i >= 0 && iy##i < in_h && ix##i >= 0 && ix##i < in_w         \
                        ? ((image.s##i * in_h + iy##i) * in_w + ix##i) * in_c + from \
                        : -1;
#define TW_VALUE(i) \
  (at##i < 0 ? nothing : tw_four_bytes(input, at##i + c, group_in - c, flips))
#endif
#ifdef TW_WEIGHT_ZERO
#define TW_IF_ZERO(statement) statement;
#else
#define TW_IF_ZERO(statement)
#endif
#ifdef TW_FLOATS
#define TW_ADD(i)                                             \
  if (pixels > i) {                                           \
    const char4 bytes = TW_VALUE(i);                          \
    const float4 v = convert_float4(bytes);                   \
    tw_product4(s##i, v, w0, w1, w2, w3)                      \
    TW_IF_ZERO(t.s##i += v.x + v.y + v.z + v.w)               \
  }
// What was added as floats becomes integers.
#define TW_KEEP(i)               \
  if (pixels > i) {              \
    k##i += convert_int4(s##i);  \
    s##i = (float4)(0.0f);       \
  }
#define TW_KEEP_ALL \
  {                 \
    TW_KEEP(0) TW_KEEP(1) TW_KEEP(2) TW_KEEP(3) TW_IF_ZERO(kt += convert_int4(t)) \
    t = (float4)(0.0f); \
    held = 0; \
  }
#else
#define TW_ADD(i)                                             \
  if (pixels > i) {                                           \
    const char4 v = TW_VALUE(i);                              \
    k##i = tw_products(w, v, k##i);                           \
    TW_IF_ZERO(kt.s##i += v.x + v.y + v.z + v.w)              \
  }
#endif
#ifdef TW_ALIGNED
#define TW_LEFT 4
#else
#define TW_LEFT (group_out - oc)
#endif
#define TW_END(i)                                                                                \
  if (pixels > i && first + i < n_pixels) {                                                      \
    tw_end4(k##i - weight_zero * kt.s##i, epilogues + 4 * q, lo, hi, out_zero,        \
            output + (first + i) * out_c + g * group_out + oc, TW_LEFT);                         \
  }

TW_INLINE void tw_integer_product(const int pixels, TW_PARAMETERS) {
  const int q = (int)get_global_id(0), first = (int)get_global_id(1) * pixels;
  const int per_group = (group_out + 3) / 4, n_quads = out_c / group_out * per_group;
  if (q >= n_quads || first >= n_pixels) return;
  const int g = q / per_group, oc = (q - g * per_group) * 4, from = g * group_in;
  const int4 pixel = min(first + (int4)(0, 1, 2, 3), (int4)(n_pixels - 1));
  const uint flips = (uint)flip * 0x01010101u;
  int4 k0 = (int4)(0), k1 = k0, k2 = k0, k3 = k0, kt = k0;
  const __global uint4* line = weights + q;
#ifdef TW_FLOATS
  float4 s0 = (float4)(0.0f), s1 = s0, s2 = s0, s3 = s0, t = s0;
  int held = 0;
#endif
#ifndef TW_POINTWISE
  const int4 row = pixel / out_w, image = row / out_h;
  const int4 left = (pixel - row * out_w) * stride_w - pad_left;
  const int4 top = (row - image * out_h) * stride_h - pad_top;
  const char z = (char)zero;
  for (int ky = 0; ky < filter_h; ++ky) {
    for (int kx = 0; kx < filter_w; ++kx)
#endif
    {
      TW_PLACE(0) TW_PLACE(1) TW_PLACE(2) TW_PLACE(3)
      for (int c = 0; c < group_in; c += 4, line += n_quads) {
        const char16 w = as_char16(*line);
#ifndef TW_POINTWISE
        const char4 nothing =
            (char4)(z, c + 1 < group_in ? z : (char)0, c + 2 < group_in ? z : (char)0,
                    c + 3 < group_in ? z : (char)0);
#endif
#ifdef TW_FLOATS
        const float4 w0 = convert_float4(w.s048c), w1 = convert_float4(w.s159d);
        const float4 w2 = convert_float4(w.s26ae), w3 = convert_float4(w.s37bf);
#endif
        TW_ADD(0) TW_ADD(1) TW_ADD(2) TW_ADD(3)
#ifdef TW_FLOATS
        if (++held == 256) TW_KEEP_ALL
#endif
      }
    }
#ifndef TW_POINTWISE
  }
#endif
#ifdef TW_FLOATS
  TW_KEEP_ALL
#endif
  TW_END(0) TW_END(1) TW_END(2) TW_END(3)
}

TW_KERNEL_FOR(integer_product, 1)(TW_PARAMETERS) { tw_integer_product(1, TW_ARGUMENTS); }

TW_KERNEL_FOR(integer_product, 4)(TW_PARAMETERS) { tw_integer_product(4, TW_ARGUMENTS); }
