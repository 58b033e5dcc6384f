// ElementwiseKernels: the float32 loops of unary, binary and reducing operators, and of type
// conversion.
//
// All functions allocate nothing, may run on any thread and accept outputs that are exactly one of
// their inputs (same address). The result of an element does not depend on its neighbours, except
// for the order of sums, which depends on the sizes alone.
#ifndef TOPWORK_KERNELS_CPU_ELEMENTWISE_H_
#define TOPWORK_KERNELS_CPU_ELEMENTWISE_H_

#include <cstdint>

#include "kernels/contract/functions.h"
#include "kernels/contract/kept_range.h"

namespace topwork {

struct QuantElementwiseKernels;  // elementwise_quant.h

// y[r * n + i] = clamp(a[r * a_row + i * a_step] op b[r * b_row + i * b_step], lo, hi); steps are 0
// or 1, and not both 0 unless n is 1. A NaN passes the clamp.
struct BinaryTile {
  const float* a = nullptr;
  const float* b = nullptr;
  float* y = nullptr;
  int64_t rows = 0, n = 0;
  int64_t a_row = 0, b_row = 0;
  int a_step = 1, b_step = 1;
  float lo = 0.0f, hi = 0.0f;
};

// `rows` times n values, which lie `step` apart.
struct FloatRows {
  float* values = nullptr;
  int64_t rows = 0, n = 0, step = 0;
};

using UnaryFunction = void (*)(const float* x, float* y, int64_t n, float alpha);
using BinaryFunction = void (*)(const BinaryTile& tile);
using ReduceRowsFunction = void (*)(float* acc, const float* x, int64_t rows, int64_t row_stride,
                                    int64_t n);
using ReduceRowFunction = float (*)(const float* x, int64_t n);

struct ElementwiseKernels {
  // Indexed by UnaryFn. alpha: kLeakyRelu's, ignored by the others.
  const UnaryFunction* unary;
  // Indexed by BinaryFn.
  const BinaryFunction* binary;
  // Indexed by ReduceFn. reduce_rows: acc[i] = fn(acc[i], x[i], x[row_stride + i], ... of all rows)
  // for i < n. reduce_row: fn over n values; 0, 1, -∞, +∞ when n is 0.
  const ReduceRowsFunction* reduce_rows;
  const ReduceRowFunction* reduce_row;

  void (*half_to_float)(const uint16_t* x, float* y, int64_t n);
  // As FloatToHalf of tensor.h: to the nearest, ties to even.
  void (*float_to_half)(const float* x, uint16_t* y, int64_t n);
  // y = scale (x - zero_point)
  void (*dequantize_i8)(const int8_t* x, float* y, int64_t n, float scale, int32_t zero_point);
  void (*dequantize_u8)(const uint8_t* x, float* y, int64_t n, float scale, int32_t zero_point);
  void (*dequantize_i16)(const int16_t* x, float* y, int64_t n, float scale, int32_t zero_point);
  // y = x / scale rounded (ties away from zero) + zero_point, saturated; NaN gives the least value.
  void (*quantize_i8)(const float* x, int8_t* y, int64_t n, float scale, int32_t zero_point);
  void (*quantize_u8)(const float* x, uint8_t* y, int64_t n, float scale, int32_t zero_point);
  void (*quantize_i16)(const float* x, int16_t* y, int64_t n, float scale, int32_t zero_point);

  // e^(beta (x - max)) / sum along rows of n ≤ short_row values, n ≥ 1; may be done in place. Null
  // where short_row is 0.
  void (*softmax)(const float* x, float* y, int64_t rows, int64_t n, float beta);
  int64_t short_row;
  // What convolutions end with, in place: kSwish, kLogistic or kHardSwish, with the bits of `unary`. Widens
  // `range` by the results unless it is null. Null itself where no convolution ends so (kFusesFunctions).
  void (*end_rows)(UnaryFn fn, const FloatRows& rows, KeptRange::Lanes* range);

  const QuantElementwiseKernels* quantized;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_ELEMENTWISE_H_
