// Integer arithmetic of quantized operators: packed GEMM, depthwise convolution, quantization.
//
// GEMM: acc[m x n] = A[m x k] * W[n x k]^T in 32 bits, then one of four epilogues: requantize to 8
// bits, scale to float (dynamic range), hand the sums to a function (16-bit activations), or store
// them as they are (recurrent cells). There are two GEMMs. "bytes" multiplies 8-bit values as they
// lie and corrects for zero points afterwards; only processors with a byte dot product have it,
// because AVX2's maddubs saturates sums of two products. "int16" multiplies 16-bit values and
// expects A and W without their zero points.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_H_
#define TOPWORK_KERNELS_CPU_INTEGER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/contract/kept_range.h"
#include "kernels/cpu/depthwise.h"

namespace topwork {

// W as it lies in memory: n rows of `runs` segments of run_k values, one after the other, in 8 bits
// or packed in 2 or 4 bits (runtime/tensor/packed.h). A byte counts as the signed value of (byte ^
// flip): uint8 weights come with flip 0x80.
struct IntegerWeights {
  const uint8_t* data = nullptr;
  int64_t first = 0;  // index of the first value
  int64_t n = 0;
  int64_t runs = 1, run_k = 0;
  bool transposed = false;  // runs * run_k rows of n values instead
  bool nibbles = false;     // to be packed in 4 bits, see kMaxNibbles
  int bits = 8;
  uint8_t flip = 0;
  int32_t zero_point = 0;  // of the signed values; "int16" subtracts it
};

// Weights of 4 bits may be packed as they are where every run has a scale (IntegerTask::run_scale),
// and runs are a multiple of 8 values and no longer than this. The scales are then 1/16 of the
// weights' own. (Longer runs have sums that, times 16, would not be exact in float32.)
constexpr int64_t kMaxNibbles = 256;

struct IntegerTask;
// Epilogue of 16-bit products: rows [row, row + rows) x columns [n0, n0 + columns) of sums that lie
// `stride` apart.
using FinishWide = void (*)(const IntegerTask& task, const int64_t* sums, int64_t stride,
                            int64_t row, int rows, int64_t n0, int columns);

// Factors of columns in single precision, where rounding once gives what ColumnFactors give for every
// sum x that can occur: the clamped int(bits(fma(float(x + shift), scale, addend))) - kRounderBits.
// (shift * scale is about what rounding twice adds, and an integer that `addend` takes back.) Where
// results may be negative, those of negative x are minus those of -x. A scale of 0 says that a column
// has none.
struct SingleFactors {
  const float* scale = nullptr;  // or null: none of all columns
  const float* addend = nullptr;
  const int32_t* bias = nullptr;   // with the shift
  const int32_t* shift = nullptr;  // null: no result is negative
};
// Floats from 2^23 to 2^24 are the integers: their lowest bits count.
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
constexpr int32_t kRounderBits = 0x4B400000;

// Factors of columns (channels). Fixed point: x * 2^left saturated, times mantissa / 2^31, rounded,
// then divided by 2^right, rounded again: MultiplyByFactor of kernels/ops/shared/quant.h. Real:
// times a double, rounded once, ties away from zero.
struct ColumnFactors {
  const double* real = nullptr;  // or null: fixed point
  const int32_t* mantissa = nullptr;
  const int32_t* left = nullptr;  // or null: 0 everywhere
  const int32_t* right = nullptr;
  // Fixed point with mantissas of at least 2^30, no left, right from 1 to 30; and everything that
  // is multiplied lies within ±3 * 2^29. One rounding then gives what both would give
  // (ApplySmallFactors).
  bool small = false;
  SingleFactors single;  // instead of `small`
};
// The largest bias, where products and the terms of rows stay within ±2^28. Converters write such
// large biases for channels that never fire.
constexpr int32_t kSmallBias = (1 << 30) + (1 << 28);

// A GEMM reads whole words of up to eight bytes where it may.
constexpr int64_t kOverRead = 7;

enum class IntegerEpilogue { kBytes, kFloat, kWide, kSums };

// Entries of the arrays over columns are a multiple of this.
constexpr int64_t kColumnPad = 16;

// Rows [0, m) and panels [panel_begin, panel_end) of a product. The arrays over columns begin at
// column 0 and are padded to a multiple of kColumnPad.
struct IntegerTask {
  // Row r of A consists of `runs` segments of run_k values (uint8 or int8 for "bytes", int16 for
  // "int16"). Segment i begins row_offsets[r] + run_offsets[i] bytes after `a`. Without row_offsets
  // rows lie lda bytes apart; run_offsets may be null where there is one run.
  const uint8_t* a = nullptr;
  int64_t lda = 0;
  const int64_t* row_offsets = nullptr;
  const int64_t* run_offsets = nullptr;
  int64_t runs = 1, run_k = 0;
  bool over_read = false;  // kOverRead more bytes may be read after every segment
  uint8_t flip = 0;        // bytes: XORed to every value of A
  const void* packed = nullptr;
  bool nibbles = false;  // W is packed as nibbles
  int64_t m = 0, n = 0;
  int64_t panel_begin = 0, panel_end = 0;
  IntegerEpilogue epilogue = IntegerEpilogue::kBytes;
  void* c = nullptr;
  int64_t ldc = 0;  // in elements

  // kBytes: clamp(factor[n](acc + bias[n] + row_term[m]), least, most) + zero_point; least and most
  // are relative to the zero point.
  ColumnFactors factors;
  int32_t least = 0, most = 0;
  const int32_t* bias = nullptr;
  const int32_t* row_term = nullptr;  // or null
  int32_t zero_point = 0;

  // kFloat: (acc − row_zero * sum(W[n])) * row_scale * scale[n] + float_bias[n], clamped to
  // [lo, hi]. Row r takes entry r * row_step of the row arrays.
  const float* scale = nullptr;
  const float* float_bias = nullptr;
  const float* row_scale = nullptr;
  const int32_t* row_zero = nullptr;  // or null: nothing to subtract
  int64_t row_step = 0;
  float lo = 0.0f, hi = 0.0f;
  // Or, where every run has its own scale instead of `scale`: (sum over the runs of acc[run] *
  // run_scale[run * run_scale_step + n] − row_zero * scaled_sums[n]) * row_scale + float_bias[n].
  const float* run_scale = nullptr;
  int64_t run_scale_step = 0;
  const float* scaled_sums = nullptr;
  KeptRange::Lanes* range = nullptr;  // or: to be widened by the results; not with run_scale
  const float* addend = nullptr;      // or m x n values added before the clamp, as far apart as c's

  // kSums: acc as int32.

  // kWide: int16 only
  FinishWide finish = nullptr;
  const void* finish_data = nullptr;
};

struct IntegerGemm {
  const char* tag;  // names the packed layout
  bool bytes;       // else int16
  bool nibbles;     // takes W packed as nibbles; packed_bytes is then asked with half of run_k
  int group;        // values of a segment that are multiplied at once; it is padded to whole groups
  int rows;         // of a register tile
  int max_columns;  // of the widest panel
  int64_t (*n_panels)(int64_t n);
  int64_t (*first_column)(int64_t n, int64_t index);  // as GemmKernels has it
  size_t (*packed_bytes)(int64_t n, int64_t runs, int64_t run_k);
  void (*pack)(const IntegerWeights& weights, int64_t panel_begin, int64_t panel_end, void* packed);
  // The sums of W's rows (of the signed values as packed), n_panels-padded, inside `packed`.
  const int32_t* (*sums)(const void* packed, int64_t n, int64_t runs, int64_t run_k);
  void (*run)(const IntegerTask& task);
  // What run does with the sums of a tile: products[rows][n_vectors vectors of columns from n0 on].
  void (*end)(const IntegerTask& task, const int32_t* products, int64_t row, int rows, int64_t n0,
              int n_vectors);
  // out[r] = sum of the values of row r of A (bytes after the flip, in the processor's sign).
  void (*row_sums)(const IntegerTask& task, int32_t* out);
};

// Rows of output: sums over the taps of in * filter. The image has its padding (zero points) around
// it, so that every tap lies inside: in_h, in_w and in_c of DepthwiseShape are those of the padded
// image, its pads are 0 and its clamp is not read.
//
// Flat rows serve few channels, multipliers and strides: a row of output is one vector of elements
// (x, c), and so is the input of every tap. Rows of the image are row_bytes long. For the stride s
// they hold the pixels 0, s, 2 s, ..., then 1, s + 1, ..., each such phase in phase_bytes; every
// value lies there as many times as it has output channels. The filter is [taps, spread] and the
// arrays over channels have spread entries, kColumnPad more than there are channels; entry c
// repeats c − channels. A row has at least kColumnPad elements of 8 bits.
struct IntegerDepthwiseRows {
  int64_t spread = 0;  // or 0: not flat
  int64_t row_bytes = 0, phase_bytes = 0;
  const void* image = nullptr;      // uint8, int8 or int16
  const int16_t* filter = nullptr;  // [taps, channels], without zero point
  // Of depthwise_bytes, which does not read `filter`: [n of DepthwiseWords, channels].
  const int32_t* words = nullptr;
  uint8_t padding = 0;  // of depthwise_bytes: the byte around the image
  // Of depthwise_bytes: channels [channel_begin, channel_end), at least 64 of them or all.
  int64_t channel_begin = 0, channel_end = 0;
  int64_t out_y = 0, rows = 1;  // the first, and how many
  int element = 0;              // 0 int8, 1 uint8, 2 int16
  IntegerEpilogue epilogue = IntegerEpilogue::kBytes;
  void* out = nullptr;
  // Added to the sums: minus the zero point times the sum of the filter (and plus the bias, for
  // kBytes). Arrays over the channels are not padded.
  const int32_t* bias = nullptr;
  // kBytes, as in IntegerTask; factors are in fixed point
  ColumnFactors factors;
  int32_t least = 0, most = 0;
  int32_t zero_point = 0;
  // kFloat
  const float* scale = nullptr;
  float lo = 0.0f, hi = 0.0f;
  const float* float_bias = nullptr;
  float in_scale = 1.0f;
  KeptRange::Lanes* range = nullptr;  // or: to be widened by the results
  // kWide: the 64-bit sums go to `out`.
};

// The filter of depthwise products of bytes: K x K weights of 8 bits, K and the stride S equal in both
// directions. A byte product adds four products, here of four rows of the image at a channel.
// `outs` rows of output share what they read, `groups` times four rows of the image. A channel has a
// word of four weights for each (row of output o, group g, column x), in this order: weight i
// belongs to row 4 g + i of the image, which is row 4 g + i − o S of the filter; it is 0 where the
// filter has no such row.
struct DepthwiseWords {
  int64_t size, stride, outs, groups;
  constexpr DepthwiseWords(int64_t size_in, int64_t stride_in)
      : size(size_in),
        stride(stride_in),
        outs(stride == 1 ? 2 : 1),
        groups((size + (outs - 1) * stride + 3) / 4) {}
  constexpr int64_t n() const { return outs * groups * size; }
};
constexpr int64_t kLeastDepthwiseWidth = 4;  // pixels of a row of output

// A search for SingleFactors of small factors. Sums are bias + what lies within ±reach. The results
// have entries for all columns.
struct SingleSearch {
  ColumnFactors factors;
  const int32_t* bias = nullptr;
  int64_t reach = 0;
  int32_t least = 0, most = 0;
  float* scale = nullptr;
  float* addend = nullptr;
  int32_t* shifted_bias = nullptr;
  int32_t* shift = nullptr;
};

struct IntegerKernels {
  const IntegerGemm* bytes;  // or null
  const IntegerGemm* int16;
  // "int16" whose packed W is bytes: for weights without zero point, kBytes, kFloat without scales of
  // runs, and kSums. Null where there is `bytes`, and in builds for the least size.
  const IntegerGemm* narrow;
  uint8_t flip_int8, flip_uint8;  // for A of "bytes"
  void (*depthwise_rows)(const DepthwiseShape& shape, const IntegerDepthwiseRows& rows);
  // The same by products of bytes, with `words` for `filter`; null where `bytes` is. For filters of
  // 3 x 3 and 5 x 5, strides 1 and 2, no dilation, no multiplier, at least kColumnPad channels,
  // images of 8 bits that are not flat, and rows of output of at least kLeastDepthwiseWidth pixels.
  // The image needs no padding in memory: in_h, in_w and the pads of the shape are the operator's.
  // As the processor wants their sign, values are 128 more (flip_int8) or less (flip_uint8): the
  // bias corrects that, too.
  void (*depthwise_bytes)(const DepthwiseShape& shape, const IntegerDepthwiseRows& rows);
  // Searches the columns [first, first + n); null: there is no use of SingleFactors.
  void (*find_single)(const SingleSearch& search, int64_t first, int64_t n);
  // out = value − zero_point; `is_unsigned` says what the bytes are.
  void (*widen)(const uint8_t* in, int64_t n, bool is_unsigned, int32_t zero_point, int16_t* out);
  // out = in ^ flip, n bytes that do not overlap; null: a plain loop does.
  void (*flip)(const uint8_t* in, int64_t n, uint8_t flip, uint8_t* out);
  // Lowers *lo and raises *hi to the least and largest of n values.
  void (*min_max)(const float* in, int64_t n, float* lo, float* hi);
  // out = clamp(round(in * inverse_scale + zero_point), lo, 127), ties away from zero.
  void (*quantize)(const float* in, int64_t n, float inverse_scale, int32_t zero_point, int32_t lo,
                   int8_t* out);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_H_
