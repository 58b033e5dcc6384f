// The loops over quantized tensors, one instruction set's copy (see elementwise_quant.h).
//
// Plain loops that the compiler turns into vectors: rescaling is the same few integer operations
// for every lane, with shifts that are the same for all of them.
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {

extern const QuantElementwiseKernels kQuantElementwiseKernels;

namespace {

// A factor taken apart once for a whole loop.
struct Scaler {
  int32_t mantissa, left, right, mask, half, least, most;
  explicit Scaler(const FixedFactor& factor)
      : mantissa(factor.mantissa),
        left(factor.shift > 0 ? (factor.shift < 30 ? factor.shift : 30) : 0),
        right(factor.shift > 0 ? 0 : -factor.shift),
        mask(static_cast<int32_t>((1u << right) - 1u)),
        half(mask >> 1),
        least(INT32_MIN >> left),
        most(INT32_MAX >> left) {}
};

// The product's bits 31 to 62, rounded, then the division by 2^right, halves away from zero.
TW_INLINE int32_t Apply(const Scaler& s, int32_t x) {
  x = x < s.least ? s.least : x;
  x = x > s.most ? s.most : x;
  const int64_t product = static_cast<int64_t>(x * (1 << s.left)) * s.mantissa + (int64_t{1} << 30);
  const int32_t high = static_cast<int32_t>(static_cast<uint64_t>(product) >> 31);
  const int32_t threshold = s.half + (high < 0 ? 1 : 0);
  return (high >> s.right) + ((high & s.mask) > threshold ? 1 : 0);
}

// clamp(x + offset) to [lo, hi] without leaving int32: every zero point lies in the type's range.
struct Placer {
  int32_t offset, lo, hi;
  Placer(int32_t offset, int32_t lo, int32_t hi)
      : offset(offset), lo(lo - offset), hi(hi - offset) {}
};
TW_INLINE int32_t Place(const Placer& p, int32_t x) {
  x = x < p.lo ? p.lo : x;
  return (x > p.hi ? p.hi : x) + p.offset;
}

template <typename T, typename F>
TW_INLINE void Rows(const QuantBinaryTile& t, F f) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* a = static_cast<const T*>(t.a) + r * t.a_row;
    const T* b = static_cast<const T*>(t.b) + r * t.b_row;
    T* y = static_cast<T*>(t.y) + r * t.n;
    if (t.a_step == 1 && t.b_step == 1) {
      for (int64_t i = 0; i < t.n; ++i) y[i] = static_cast<T>(f(a[i], b[i]));
    } else if (t.a_step == 1) {
      const int32_t b0 = *b;
      for (int64_t i = 0; i < t.n; ++i) y[i] = static_cast<T>(f(a[i], b0));
    } else {
      const int32_t a0 = *a;
      for (int64_t i = 0; i < t.n; ++i) y[i] = static_cast<T>(f(a0, b[i * t.b_step]));
    }
  }
}

template <typename T, int kSign>
void AddOrSub(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const Scaler scale_a(p.scale_a), scale_b(p.scale_b), scale_y(p.scale_y);
  const Placer placer(p.y_offset, p.lo, p.hi);
  Rows<T>(tile, [&](int32_t a, int32_t b) {
    const int32_t wide_a = (a + p.a_offset) * (1 << p.left_shift);
    const int32_t wide_b = (b + p.b_offset) * (1 << p.left_shift);
    const int32_t sum = Apply(scale_a, wide_a) + kSign * Apply(scale_b, wide_b);
    return Place(placer, Apply(scale_y, sum));
  });
}

template <typename T>
void Mul(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const Scaler scale_y(p.scale_y);
  const Placer placer(p.y_offset, p.lo, p.hi);
  Rows<T>(tile, [&](int32_t a, int32_t b) {
    const int32_t product = (a + p.a_offset) * (b + p.b_offset);
    return Place(placer, Apply(scale_y, product));
  });
}

// Four loads at a time keep the processor's load ports busy; a table has no vector form here.
void Lookup(const uint8_t* x, uint8_t* y, int64_t n, const uint8_t* table) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const uint8_t y0 = table[x[i]], y1 = table[x[i + 1]];
    const uint8_t y2 = table[x[i + 2]], y3 = table[x[i + 3]];
    y[i] = y0;
    y[i + 1] = y1;
    y[i + 2] = y2;
    y[i + 3] = y3;
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}

template <typename From, typename To>
void Requantize(const From* x, To* y, int64_t n, const RequantizeParams& p) {
  const Scaler scale(p.scale);
  const Placer placer(p.y_offset, p.lo, p.hi);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t moved = static_cast<uint32_t>(x[i]) + static_cast<uint32_t>(p.x_offset);
    y[i] = static_cast<To>(Place(placer, Apply(scale, static_cast<int32_t>(moved))));
  }
}

template <typename T>
void SumRows(int32_t* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  const T* row = static_cast<const T*>(x);
  for (int64_t r = 0; r < rows; ++r, row += row_stride) {
    for (int64_t i = 0; i < n; ++i) acc[i] += row[i];
  }
}

// A quotient of numbers below 2^31 in double precision never rounds to another integer.
template <typename T>
void Divide(const int32_t* sums, void* y, int64_t n, int32_t count, int32_t lo, int32_t hi) {
  T* to = static_cast<T*>(y);
  const int32_t half = count / 2;
  const double divisor = count;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t moved = sums[i] > 0 ? sums[i] + half : sums[i] - half;
    int32_t value = static_cast<int32_t>(static_cast<double>(moved) / divisor);
    value = value < lo ? lo : value;
    to[i] = static_cast<T>(value > hi ? hi : value);
  }
}

template <typename T>
void MaxRows(void* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  T* best = static_cast<T*>(acc);
  const T* row = static_cast<const T*>(x);
  for (int64_t r = 0; r < rows; ++r, row += row_stride) {
    for (int64_t i = 0; i < n; ++i) best[i] = row[i] > best[i] ? row[i] : best[i];
  }
}

template <typename T>
void MinRows(void* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  T* best = static_cast<T*>(acc);
  const T* row = static_cast<const T*>(x);
  for (int64_t r = 0; r < rows; ++r, row += row_stride) {
    for (int64_t i = 0; i < n; ++i) best[i] = row[i] < best[i] ? row[i] : best[i];
  }
}

template <typename T, typename Sum>
void MixFixed(const QuantMixTask& task, void* y, int64_t n) {
  const T* x0 = static_cast<const T*>(task.x[0]);
  const T* x1 = static_cast<const T*>(task.x[1]);
  const T* x2 = static_cast<const T*>(task.x[2]);
  const T* x3 = static_cast<const T*>(task.x[3]);
  const Sum w0 = task.weights[0], w1 = task.weights[1], w2 = task.weights[2], w3 = task.weights[3];
  T* to = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) {
    const Sum sum = x0[i] * w0 + x1[i] * w1 + x2[i] * w2 + x3[i] * w3;
    // Away from zero: the shift rounds down, so negative sums get one less than half.
    to[i] = static_cast<T>((sum + (1 << 19) - (sum < 0 ? 1 : 0)) >> 20);
  }
}

void MixFloat(const QuantMixTask& task, void* y, int64_t n) {
  const uint8_t* x0 = static_cast<const uint8_t*>(task.x[0]);
  const uint8_t* x1 = static_cast<const uint8_t*>(task.x[1]);
  const uint8_t* x2 = static_cast<const uint8_t*>(task.x[2]);
  const uint8_t* x3 = static_cast<const uint8_t*>(task.x[3]);
  const float top = task.line[0], bottom = task.line[1];
  const float left = task.column[0], right = task.column[1];
  uint8_t* to = static_cast<uint8_t*>(y);
  for (int64_t i = 0; i < n; ++i) {
    // TFLite's order; this file is compiled without fused multiply-adds.
    const float sum = static_cast<float>(x0[i]) * top * left +
                      static_cast<float>(x2[i]) * bottom * left +
                      static_cast<float>(x1[i]) * top * right +
                      static_cast<float>(x3[i]) * bottom * right;
    to[i] = static_cast<uint8_t>(static_cast<int32_t>(sum + 0.5f));
  }
}

}  // namespace

const QuantElementwiseKernels kQuantElementwiseKernels = {
    {{AddOrSub<int8_t, 1>, AddOrSub<uint8_t, 1>, AddOrSub<int16_t, 1>},
     {AddOrSub<int8_t, -1>, AddOrSub<uint8_t, -1>, AddOrSub<int16_t, -1>},
     {Mul<int8_t>, Mul<uint8_t>, Mul<int16_t>}},
    Lookup,
    Requantize<int16_t, int8_t>,
    Requantize<int16_t, int16_t>,
    Requantize<int16_t, int32_t>,
    Requantize<int32_t, int8_t>,
    Requantize<int32_t, int16_t>,
    {SumRows<int8_t>, SumRows<uint8_t>, SumRows<int16_t>},
    {Divide<int8_t>, Divide<uint8_t>, Divide<int16_t>},
    {MaxRows<int8_t>, MaxRows<uint8_t>, MaxRows<int16_t>},
    {MinRows<int8_t>, MinRows<uint8_t>, MinRows<int16_t>},
    {MixFixed<int8_t, int32_t>, MixFloat, MixFixed<int16_t, int64_t>},
};

}  // namespace TW_ISA
}  // namespace topwork
