// Reductions and type conversions of float32, and one instruction set's table (see elementwise.h).
//
// Reductions work in blocks of a fixed size whose results are combined afterwards: a long sum loses
// less precision than one running total would.
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vector_math.h"

namespace topwork {
namespace TW_ISA {

extern const UnaryFunction kUnaryFunctions[kNumUnaryFns];
extern const BinaryFunction kBinaryFunctions[kNumBinaryFns];
extern const QuantElementwiseKernels kQuantElementwiseKernels;
extern const ElementwiseKernels kElementwiseKernels;

void EndRows(UnaryFn fn, const FloatRows& rows, KeptRange::Lanes* range);
void SoftmaxOfShortRows(const float* in, float* out, int64_t rows, int64_t n, float beta);

namespace {

// V is float or Vec. A NaN is not greater nor less than anything and leaves a maximum as it is.
struct SumOp {
  static constexpr float kIdentity = 0.0f;
  template <typename V>
  TW_INLINE V Apply(V acc, V x) {
    return acc + x;
  }
};

struct ProdOp {
  static constexpr float kIdentity = 1.0f;
  template <typename V>
  TW_INLINE V Apply(V acc, V x) {
    return acc * x;
  }
};

struct MaxOp {
  static constexpr float kIdentity = -__builtin_inff();
  template <typename V>
  TW_INLINE V Apply(V acc, V x) {
    return x > acc ? x : acc;
  }
};

struct MinOp {
  static constexpr float kIdentity = __builtin_inff();
  template <typename V>
  TW_INLINE V Apply(V acc, V x) {
    return x < acc ? x : acc;
  }
};

constexpr int64_t kBlockRows = 64;     // rows of reduce_rows summed before they join the total
constexpr int64_t kBlockVectors = 32;  // likewise in reduce_row, in each of four lanes of vectors
constexpr int64_t kBlocksPerSum = 32;  // blocks of reduce_row that are summed before they join it

// One strip of `kVectors` vectors of columns, held in registers.
template <typename Op, int kVectors>
TW_INLINE void ReduceStrip(float* acc, const float* x, int64_t rows, int64_t stride) {
  for (int64_t r0 = 0; r0 < rows; r0 += kBlockRows) {
    const int64_t r1 = r0 + kBlockRows < rows ? r0 + kBlockRows : rows;
    Vec part[kVectors];
    for (int v = 0; v < kVectors; ++v) part[v] = Splat(Op::kIdentity);
    for (int64_t r = r0; r < r1; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        part[v] = Op::Apply(part[v], Load(x + r * stride + v * kLanes));
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      Store(acc + v * kLanes, Op::Apply(Load(acc + v * kLanes), part[v]));
    }
  }
}

// The last columns, fewer than a vector.
template <typename Op>
TW_INLINE void ReduceFewColumns(float* acc, const float* x, int64_t rows, int64_t stride, int n) {
  for (int64_t r0 = 0; r0 < rows; r0 += kBlockRows) {
    const int64_t r1 = r0 + kBlockRows < rows ? r0 + kBlockRows : rows;
    Vec part = Splat(Op::kIdentity);
    for (int64_t r = r0; r < r1; ++r) part = Op::Apply(part, LoadFirst(x + r * stride, n));
    StoreFirst(acc, Op::Apply(LoadFirst(acc, n), part), n);
  }
}

template <typename Op>
void ReduceRows(float* acc, const float* x, int64_t rows, int64_t row_stride, int64_t n) {
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) ReduceStrip<Op, 4>(acc + i, x + i, rows, row_stride);
  for (; i + kLanes <= n; i += kLanes) ReduceStrip<Op, 1>(acc + i, x + i, rows, row_stride);
  if (i < n) {
    ReduceFewColumns<Op>(acc + i, x + i, rows, row_stride, static_cast<int>(n - i));
  }
}

template <typename Op>
float ReduceRow(const float* x, int64_t n) {
  float result = Op::kIdentity;
  int64_t i = 0;
  if (n >= 4 * kLanes) {
    Vec total = Splat(Op::kIdentity);
    Vec middle = total;
    for (int64_t block = 1; i + 4 * kLanes <= n; ++block) {
      const int64_t left = (n - i) / (4 * kLanes);
      const int64_t steps = left < kBlockVectors ? left : kBlockVectors;
      Vec part[4];
      for (int v = 0; v < 4; ++v) part[v] = Splat(Op::kIdentity);
      for (int64_t s = 0; s < steps; ++s, i += 4 * kLanes) {
        for (int v = 0; v < 4; ++v) part[v] = Op::Apply(part[v], Load(x + i + v * kLanes));
      }
      middle =
          Op::Apply(middle, Op::Apply(Op::Apply(part[0], part[1]), Op::Apply(part[2], part[3])));
      if (block % kBlocksPerSum == 0) {
        total = Op::Apply(total, middle);
        middle = Splat(Op::kIdentity);
      }
    }
    total = Op::Apply(total, middle);
    for (int lane = 0; lane < kLanes; ++lane) result = Op::Apply(result, float(total[lane]));
  }
  for (; i < n; ++i) result = Op::Apply(result, x[i]);
  return result;
}

// Halves and floats share their layout but for the exponent's width and bias: the bits are shifted
// into place and scaled by 2^112, which is exact for subnormal halves too.
void HalfToFloat(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t h = x[i];
    const uint32_t shifted = (h & 0x7fffu) << 13;
    float value;
    __builtin_memcpy(&value, &shifted, sizeof(value));
    value *= 5.19229686e33f;  // 2^112
#if defined(__ARM_NEON) && !defined(__aarch64__)
    // The factors of subnormal halves were subnormal, too, which 32-bit NEON takes for zero.
    const float subnormal = static_cast<float>(static_cast<int32_t>(h & 0x3ffu)) * 5.96046448e-8f;
    value = (h & 0x7c00u) == 0 ? subnormal : value;
#endif
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    bits |= shifted >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity and NaN
    bits |= (h & 0x8000u) << 16;
    __builtin_memcpy(y + i, &bits, sizeof(bits));
  }
}

// Without branches, so that it becomes vectors. Halves below 2^-14 are multiples of 2^-24, to which
// the sum with 0.5 rounds them; the rounding of the others may carry into the exponent, as it must.
void FloatToHalf(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof(bits));
    const uint32_t magnitude = bits & 0x7fffffffu;
    float value;
    __builtin_memcpy(&value, &magnitude, sizeof(value));
    value += 0.5f;
    uint32_t subnormal;
    __builtin_memcpy(&subnormal, &value, sizeof(subnormal));
    const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    const uint32_t finite = magnitude < 0x38800000u ? subnormal - 0x3f000000u : normal;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;  // NaN or infinity
    const uint32_t half = magnitude >= 0x477ff000u ? special : finite;
    y[i] = static_cast<uint16_t>(((bits >> 16) & 0x8000u) | half);
  }
}

template <typename T>
void Dequantize(const T* x, float* y, int64_t n, float scale, int32_t zero_point) {
  for (int64_t i = 0; i < n; ++i) y[i] = scale * static_cast<float>(x[i] - zero_point);
}

template <typename T, int32_t kLeast, int32_t kMost>
void Quantize(const float* x, T* y, int64_t n, float scale, int32_t zero_point) {
  const float least = static_cast<float>(kLeast - zero_point);
  const float most = static_cast<float>(kMost - zero_point);
  for (int64_t i = 0; i < n; ++i) {
    const float value = x[i] / scale;
    const float a = __builtin_fabsf(value);
    const float even = (a + 8388608.0f) - 8388608.0f;  // nearest integer, ties to even
    float rounded = a - even == 0.5f ? even + 1.0f : even;
    rounded = a < 8388608.0f ? rounded : a;
    rounded = __builtin_copysignf(rounded, value);
    rounded = rounded > least ? rounded : least;
    rounded = rounded < most ? rounded : most;
    y[i] = static_cast<T>(static_cast<int32_t>(rounded) + zero_point);
  }
}

#define TW_ROW(name, number) ReduceRows<name##Op>,
const ReduceRowsFunction kReduceRows[kNumReduceFns] = {TW_REDUCE_FUNCTIONS(TW_ROW)};
#undef TW_ROW
#define TW_ROW(name, number) ReduceRow<name##Op>,
const ReduceRowFunction kReduceRow[kNumReduceFns] = {TW_REDUCE_FUNCTIONS(TW_ROW)};
#undef TW_ROW

}  // namespace

const ElementwiseKernels kElementwiseKernels = {
    kUnaryFunctions,
    kBinaryFunctions,
    kReduceRows,
    kReduceRow,
    HalfToFloat,
    FloatToHalf,
    Dequantize<int8_t>,
    Dequantize<uint8_t>,
    Dequantize<int16_t>,
    Quantize<int8_t, -128, 127>,
    Quantize<uint8_t, 0, 255>,
    Quantize<int16_t, -32768, 32767>,
    kShortLoops ? nullptr : SoftmaxOfShortRows,
    kShortLoops ? 0 : 4 * kLanes,
    kFusesFunctions ? EndRows : nullptr,
    &kQuantElementwiseKernels,
};

}  // namespace TW_ISA
}  // namespace topwork
