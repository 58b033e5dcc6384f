// ResizeKernels: rows of RESIZE_BILINEAR, a vector of channels at a time.
#ifndef TOPWORK_KERNELS_CPU_RESIZE_H_
#define TOPWORK_KERNELS_CPU_RESIZE_H_

#include <cstdint>

namespace topwork {

// An output pixel along one axis: its two input pixels with their weights, as integers (the sum of
// a pixel's four products of |weights| is below 2^23) or as reals.
struct ResizeMix {
  int32_t first = 0, second = 0;
  int32_t weights[2] = {};
  float real_weights[2] = {};
  int16_t sixteenths[2] = {};  // the weights, where they are multiples of 1/16
};

// Floats or ints that a row takes for each input row, beyond the row's own.
constexpr int64_t kResizePad = 32;

// One row of output pixels. With a, b of the upper input row and c, d of the lower one, where a and
// c are the columns' first pixels, weights l, r of the columns and t, u of the rows:
//   float32: a (t l) + c (u l) + b (t r) + d (u r), added in that order
//   uint8:   a t l + c u l + b t r + d u r in that order of factors and terms, plus 0.5, cut off
//   int8, int16: the sum with integer weights, / 2^20, rounded, ties away from zero
struct ResizeRow {
  const void* upper = nullptr;  // in_width * channels values each
  const void* lower = nullptr;
  int64_t in_width = 0, out_width = 0, channels = 0;
  ResizeMix line;
  const ResizeMix* columns = nullptr;  // out_width
  // All weights are multiples of 1/16: sums of bytes are exact in 16 bits. Where they do not stay between 0
  // and 1, the two pixels are the same.
  bool in_sixteenths = false;
  void* out = nullptr;
  float* space = nullptr;  // 2 * (in_width * channels + kResizePad), for this row alone
};

// All functions allocate nothing and may run on any thread; results are the same for every
// instruction set, bit for bit.
struct ResizeKernels {
  void (*f32)(const ResizeRow& row);
  void (*i8)(const ResizeRow& row);
  void (*u8)(const ResizeRow& row);
  void (*i16)(const ResizeRow& row);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_RESIZE_H_
