// CONV_2D and FULLY_CONNECTED of int8 and uint8, NHWC: products of bytes summed in 32 bits, brought
// to the output's scale as TFLite's reference kernels do it, to the bit.
//
// TW_ROWS pixels by TW_COLUMNS (4 or 8) output channels of a group per work-item, after which the
// kernel is named: integer_product_i8_4x8. Pixel i of the output is a product of pixel i of the
// input; with TW_WINDOW, of a window of it. Bytes are taken as signed; with TW_ZEROS after an XOR
// of four with `flip`, and weights have a zero point. With TW_ALIGNED the channels of groups are a
// multiple of four, with TW_DEEP of sixteen. Weights come as [tap][four input channels][block of
// TW_COLUMNS outputs of a group][output][4 inputs], zeros where channels are rounded up; epilogues
// of tw_end4 in the same blocks. They have all that zero points add and no pixel's value changes.
// `padding` is what pixels outside of the image hold. x: blocks of output channels, group by group;
// y: blocks of the pixels of all images.
//
// Where the device has no dot products (tw_dot), sums are kept in halves, of inputs 0, 1 and inputs
// 2, 3: processors add products of pairs of 16-bit numbers.
#define TW_FOURS (TW_COLUMNS / 4)
#define TW_TILE_OF(rows, columns) rows##x##columns
#define TW_TILE(rows, columns) TW_KERNEL_FOR(integer_product, TW_TILE_OF(rows, columns))

#ifdef TW_DEEP
#define TW_WORDS 4
#else
#define TW_WORDS 1
#endif

// Sums of four outputs; tw_products adds those of four inputs.
#ifdef tw_dot
typedef int4 tw_sums;
#define tw_total(s) (s)
inline int4 tw_products(uint4 w, uint v, int4 s) {
  return (int4)(tw_dot(w.x, v, s.x), tw_dot(w.y, v, s.y), tw_dot(w.z, v, s.z),
                tw_dot(w.w, v, s.w));
}
#define tw_sum(v, sum) tw_dot(0x01010101u, (v), (sum))
#else
typedef int8 tw_sums;
#define tw_total(s) ((s).even + (s).odd)
inline int8 tw_products(uint4 w, uint v, int8 s) {
  const short16 k = convert_short16(as_char16(w));
  const short4 a = convert_short4(as_char4(v));
  const short16 b = a.s0123012301230123;
  return s + (convert_int8(k.even) * convert_int8(b.even) +
              convert_int8(k.odd) * convert_int8(b.odd));
}
inline int tw_sum(uint v, int sum) {
  const int4 b = convert_int4(as_char4(v));
  return sum + b.x + b.y + b.z + b.w;
}
#endif

// n: how many of the four bytes exist; the others stay 0.
#ifdef TW_ZEROS
#ifdef TW_ALIGNED
#define tw_signed(v, n) ((v) ^ (uint)flip)
#else
#define tw_signed(v, n) ((v) ^ ((uint)flip >> 8 * max(4 - (n), 0)))
#endif
#else
#define tw_signed(v, n) (v)
#endif

// What a work-item stores.
#ifdef TW_ZEROS
#define TW_WITHOUT_ZEROS(r) -weight_zero * total[r]
#else
#define TW_WITHOUT_ZEROS(r)
#endif
#define TW_END_ONE(r, f)                                                                       \
  if (first + (r) < n_pixels && block * TW_COLUMNS + 4 * (f) < group_out) {                    \
    const int oc = block * TW_COLUMNS + 4 * (f);                                               \
    tw_end4(tw_total(sum[r][f]) TW_WITHOUT_ZEROS(r), epilogues + 4 * (q * TW_FOURS + (f)), lo, \
            hi, out_zero, output + (first + (r)) * out_c + g * group_out + oc, group_out,      \
            group_out - oc);                                                                   \
  }

TW_TILE(TW_ROWS, TW_COLUMNS)
(const __global uchar* restrict input, const __global uint4* restrict weights,
 const __global int4* restrict epilogues, const __global uchar* restrict padding,
 __global uchar* restrict output, int in_c, int out_c, int group_in, int group_out, int n_pixels,
 int flip, int weight_zero, int lo, int hi, int out_zero, int in_h, int in_w, int out_h, int out_w,
 int filter_h, int filter_w, int stride_h, int stride_w, int dilation_h, int dilation_w,
 int pad_top, int pad_left) {
  const int q = (int)get_global_id(0), first = (int)get_global_id(1) * TW_ROWS;
  const int per_group = (group_out + TW_COLUMNS - 1) / TW_COLUMNS;
  const int line = out_c / group_out * per_group * TW_FOURS;
  if (q * TW_FOURS >= line || first >= n_pixels) return;
  const int g = q / per_group, block = q - g * per_group;
  const __global uint4* k = weights + q * TW_FOURS;
  const __global uchar* from[TW_ROWS];
  tw_sums sum[TW_ROWS][TW_FOURS];
#ifdef TW_ZEROS
  int total[TW_ROWS];
#endif
#pragma unroll
  for (int r = 0; r < TW_ROWS; ++r) {
    from[r] = input + min(first + r, n_pixels - 1) * in_c + g * group_in;
#ifdef TW_ZEROS
    total[r] = 0;
#endif
#pragma unroll
    for (int f = 0; f < TW_FOURS; ++f) sum[r][f] = (tw_sums)(0);
  }
#ifdef TW_WINDOW
  // The first pixel of each window, in its image, and where that image begins.
  int top[TW_ROWS], left[TW_ROWS], image[TW_ROWS];
  const int row = first / out_w;
  image[0] = row / out_h;
  top[0] = (row - image[0] * out_h) * stride_h - pad_top;
  left[0] = (first - row * out_w) * stride_w - pad_left;
  const int bottom = out_h * stride_h - pad_top, right = out_w * stride_w - pad_left;
#pragma unroll
  for (int r = 1; r < TW_ROWS; ++r) {
    const int next = left[r - 1] + stride_w, wraps = next >= right ? 1 : 0;
    left[r] = wraps ? -pad_left : next;
    const int below = top[r - 1] + (wraps ? stride_h : 0), ends = below >= bottom ? 1 : 0;
    top[r] = ends ? -pad_top : below;
    image[r] = image[r - 1] + ends;
  }
#pragma unroll
  for (int r = 0; r < TW_ROWS; ++r) image[r] *= in_h;
  for (int tap = 0, ky = 0, kx = 0; tap < filter_h * filter_w; ++tap) {
#pragma unroll
    for (int r = 0; r < TW_ROWS; ++r) {
      const int y = top[r] + ky * dilation_h, x = left[r] + kx * dilation_w;
      const int is_inside = y >= 0 && y < in_h && x >= 0 && x < in_w && first + r < n_pixels;
      const int at = ((image[r] + y) * in_w + x) * in_c + g * group_in;
      from[r] = is_inside ? input + at : padding;
    }
    kx = kx + 1 < filter_w ? kx + 1 : 0;
    ky += kx == 0 ? 1 : 0;
#endif
    for (int c = 0; c < group_in; c += 4 * TW_WORDS) {
      uint v[TW_ROWS][TW_WORDS];
#pragma unroll
      for (int r = 0; r < TW_ROWS; ++r) {
#ifdef TW_DEEP
        const uint4 words = *(const __global uint4*)(from[r] + c);
        v[r][0] = tw_signed(words.x, 4);
        v[r][1] = tw_signed(words.y, 4);
        v[r][2] = tw_signed(words.z, 4);
        v[r][3] = tw_signed(words.w, 4);
#else
        v[r][0] = tw_signed(tw_word(from[r] + c, group_in - c), group_in - c);
#endif
      }
#pragma unroll
      for (int i = 0; i < TW_WORDS; ++i) {
#pragma unroll
        for (int f = 0; f < TW_FOURS; ++f) {
          const uint4 w = k[f];
#pragma unroll
          for (int r = 0; r < TW_ROWS; ++r) sum[r][f] = tw_products(w, v[r][i], sum[r][f]);
        }
        k += line;
#ifdef TW_ZEROS
#pragma unroll
        for (int r = 0; r < TW_ROWS; ++r) total[r] = tw_sum(v[r][i], total[r]);
#endif
      }
    }
#ifdef TW_WINDOW
  }
#endif
  tw_each_of_tile(TW_END_ONE)
}
