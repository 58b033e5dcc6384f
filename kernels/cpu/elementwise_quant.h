// QuantElementwiseKernels: loops over quantized tensors (int8, uint8, int16) and their sums.
//
// A quantized number q stands for scale * (q - zero point). Factors are applied with the rounding
// of MultiplyByFactor (kernels/ops/shared/quant.h). All functions allocate nothing, may run on any
// thread and accept outputs that are exactly one of their inputs where the element sizes agree.
// Results are the same for every instruction set, bit for bit.
#ifndef TOPWORK_KERNELS_CPU_ELEMENTWISE_QUANT_H_
#define TOPWORK_KERNELS_CPU_ELEMENTWISE_QUANT_H_

#include <cstdint>

#include "kernels/cpu/fixed_factor.h"

namespace topwork {

enum class QuantType : int { kInt8, kUInt8, kInt16 };
constexpr int kNumQuantTypes = 3;

enum class QuantBinaryFn : int { kAdd, kSub, kMul };
constexpr int kNumQuantBinaryFns = 3;

// Rows as in BinaryTile; steps are 0 or 1.
//   ADD, SUB: y = scale_y(scale_a((a + a_offset) << left_shift) ± scale_b(likewise)) + y_offset
//   MUL:      y = scale_y((a + a_offset) * (b + b_offset)) + y_offset
// clamped to [lo, hi].
struct QuantBinaryParams {
  int32_t a_offset = 0, b_offset = 0, y_offset = 0;
  int32_t left_shift = 0;
  FixedFactor scale_a, scale_b, scale_y;
  int32_t lo = 0, hi = 0;
  // MUL of bytes: scale_y as SingleFactors (integer.h) have it; 0: it has none.
  float single_scale = 0.0f, single_addend = 0.0f;
  int32_t single_shift = 0;
  // ADD and SUB of bytes, where it was found to give the same for all of them:
  //   y = round(sum_a a + sum_b b + sum_c) + y_offset, in single precision; sum_a 0: it was not.
  float sum_a = 0.0f, sum_b = 0.0f, sum_c = 0.0f;
};
struct QuantBinaryTile {
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
  int64_t rows = 0, n = 0;
  int64_t a_row = 0, b_row = 0;
  int a_step = 1, b_step = 1;
};
using QuantBinaryFunction = void (*)(const QuantBinaryTile& tile, const QuantBinaryParams& params);

// y = clamp(scale(x + x_offset) + y_offset) to [lo, hi].
struct RequantizeParams {
  int32_t x_offset = 0, y_offset = 0;
  FixedFactor scale;
  int32_t lo = 0, hi = 0;
};

// Whether the processor looks up a half of a table of bytes by one instruction (AVX-512 VBMI, which
// some processors of the set "avx512" lack). Set before any table of loops is given out.
extern bool looks_up_halves;

// `rows` times n bytes, so far apart in x and in y.
struct ByteRows {
  int64_t n = 0, rows = 1, x_step = 0, y_step = 0;
};

struct QuantElementwiseKernels {
  QuantBinaryFunction binary[kNumQuantBinaryFns][kNumQuantTypes];

  // y = table[x]; the bytes of x are taken as unsigned. x and y may be the same.
  void (*lookup)(const uint8_t* x, uint8_t* y, const ByteRows& rows, const uint8_t* table);
  void (*requantize_i16_i8)(const int16_t* x, int8_t* y, int64_t n, const RequantizeParams& p);
  void (*requantize_i16_i16)(const int16_t* x, int16_t* y, int64_t n, const RequantizeParams& p);
  void (*requantize_i16_i32)(const int16_t* x, int32_t* y, int64_t n, const RequantizeParams& p);
  void (*requantize_i32_i8)(const int32_t* x, int8_t* y, int64_t n, const RequantizeParams& p);
  void (*requantize_i32_u8)(const int32_t* x, uint8_t* y, int64_t n, const RequantizeParams& p);
  void (*requantize_i32_i16)(const int32_t* x, int16_t* y, int64_t n, const RequantizeParams& p);

  // By QuantType. acc[i] += x[i] + x[row_stride + i] + ... of all rows, for i < n. The caller keeps
  // the sums within int32.
  void (*sum_rows[kNumQuantTypes])(int32_t* acc, const void* x, int64_t rows, int64_t row_stride,
                                   int64_t n);
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_ELEMENTWISE_QUANT_H_
