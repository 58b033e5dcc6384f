// The loops over quantized tensors, one instruction set's copy (see elementwise_quant.h).
//
// Rescaling is written with vectors (compilers take 64-bit products apart), the rest as plain loops
// that compilers turn into vectors.
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/simd_int.h"

namespace topwork {
namespace TW_ISA {

extern const QuantElementwiseKernels kQuantElementwiseKernels;

namespace {

VectorFactors Spread(const FixedFactor& factor) {
  return SpreadFactor(factor.mantissa, factor.shift);
}

// clamp(x + offset) to [lo, hi] without leaving int32: every zero point lies in the type's range.
struct Placer {
  IVec offset, lo, hi;
  Placer(int32_t offset, int32_t lo, int32_t hi)
      : offset(Broadcast(offset)), lo(Broadcast(lo - offset)), hi(Broadcast(hi - offset)) {}
};
TW_INLINE IVec Place(const Placer& p, IVec x) { return ClampInts(x, p.lo, p.hi) + p.offset; }

// y[i] = f(x[i]) for i < n, a vector at a time.
template <typename From, typename To, typename F>
TW_INLINE void Map(const From* x, To* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreLanes(y + i, f(LoadLanes(x + i)));
  if (i == n) return;
  From from[kLanes] = {};
  To to[kLanes];
  for (int64_t k = i; k < n; ++k) from[k - i] = x[k];
  StoreLanes(to, f(LoadLanes(from)));
  for (int64_t k = i; k < n; ++k) y[k] = to[k - i];
}

// y[i] = f(a[i], b[i]); one of them may be a single value.
template <typename T, typename F>
TW_INLINE void MapTwo(const T* a, const T* b, T* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreLanes(y + i, f(LoadLanes(a + i), LoadLanes(b + i)));
  if (i == n) return;
  T from_a[kLanes] = {}, from_b[kLanes] = {}, to[kLanes];
  for (int64_t k = i; k < n; ++k) {
    from_a[k - i] = a[k];
    from_b[k - i] = b[k];
  }
  StoreLanes(to, f(LoadLanes(from_a), LoadLanes(from_b)));
  for (int64_t k = i; k < n; ++k) y[k] = to[k - i];
}

template <typename T, typename F>
TW_INLINE void Rows(const QuantBinaryTile& t, F f) {
  if (t.n <= 0) return;
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* a = static_cast<const T*>(t.a) + r * t.a_row;
    const T* b = static_cast<const T*>(t.b) + r * t.b_row;
    T* y = static_cast<T*>(t.y) + r * t.n;
    if (t.a_step == 1 && t.b_step == 1) {
      MapTwo(a, b, y, t.n, f);
    } else if (t.a_step == 1) {
      const IVec b0 = Broadcast(*b);
      Map(a, y, t.n, [&](IVec x) { return f(x, b0); });
    } else if (t.b_step == 1) {
      const IVec a0 = Broadcast(*a);
      Map(b, y, t.n, [&](IVec x) { return f(a0, x); });
    } else {
      const T value = static_cast<T>(f(Broadcast(*a), Broadcast(*b))[0]);
      for (int64_t i = 0; i < t.n; ++i) y[i] = value;
    }
  }
}

// A factor, and whether values are known to lie within ±2^29.
struct BoundedFactor {
  VectorFactors wide;
  SmallFactors small;
  bool is_small;

  BoundedFactor(const FixedFactor& factor, bool is_bounded) : wide(Spread(factor)) {
    is_small = is_bounded && factor.mantissa >= 1 << 30 && factor.shift < 0 && factor.shift >= -30;
    small = SpreadSmallFactor(factor.mantissa, is_small ? -factor.shift : 1);
  }
};
TW_INLINE IVec Apply(const BoundedFactor& f, IVec x) {
  return f.is_small ? ApplySmallFactors(f.small, x) : ApplyFactors(f.wide, x);
}

// ((x + offset) << left_shift) * factor.
struct WideTerm {
  BoundedFactor factor;
  IVec offset;
  int32_t left_shift;
  bool is_half;  // of the two terms, the one with the larger scale has the factor 1/2

  WideTerm(const FixedFactor& fixed, bool is_bounded, int32_t offset, int32_t left_shift)
      : factor(fixed, is_bounded), offset(Broadcast(offset)), left_shift(left_shift) {
    is_half = fixed.mantissa == int32_t{1} << 30 && fixed.shift == 0 && left_shift > 0;
  }
};
TW_INLINE IVec Widen(const WideTerm& term, IVec x) {
  if (term.is_half) return (x + term.offset) << (term.left_shift - 1);
  return Apply(term.factor, (x + term.offset) << term.left_shift);
}

template <typename T, int kSign>
void AddOrSub(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const bool is_bounded = sizeof(T) == 1 && p.left_shift <= 20;  // 511 << 20, and halves of both
  const WideTerm term_a(p.scale_a, is_bounded, p.a_offset, p.left_shift);
  const WideTerm term_b(p.scale_b, is_bounded, p.b_offset, p.left_shift);
  const BoundedFactor scale_y(p.scale_y, is_bounded);
  const Placer placer(p.y_offset, p.lo, p.hi);
  Rows<T>(tile, [&](IVec a, IVec b) {
    const IVec sum = Widen(term_a, a) + kSign * Widen(term_b, b);
    return Place(placer, Apply(scale_y, sum));
  });
}

template <typename T>
void Mul(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const VectorFactors scale_y = Spread(p.scale_y);
  const Placer placer(p.y_offset, p.lo, p.hi);
  Rows<T>(tile, [&](IVec a, IVec b) {
    return Place(placer, ApplyFactors(scale_y, (a + p.a_offset) * (b + p.b_offset)));
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
  const VectorFactors scale = Spread(p.scale);
  const Placer placer(p.y_offset, p.lo, p.hi);
  Map(x, y, n, [&](IVec v) { return Place(placer, ApplyFactors(scale, v + p.x_offset)); });
}

template <typename T>
void SumRows(int32_t* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  const T* columns = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    IVec sum = LoadInts(acc + i);
    const T* row = columns + i;
    for (int64_t r = 0; r < rows; ++r, row += row_stride) sum += LoadLanes(row);
    StoreInts(acc + i, sum);
  }
  for (; i < n; ++i) {
    for (int64_t r = 0; r < rows; ++r) acc[i] += columns[r * row_stride + i];
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

template <bool kLargest, typename V>
TW_INLINE V Better(V a, V b) {
  return kLargest ? (b > a ? b : a) : (b < a ? b : a);
}

template <typename T, bool kLargest>
void BestRows(void* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  typedef T Block __attribute__((vector_size(16)));
  typedef T BlockAnywhere __attribute__((vector_size(16), aligned(1), may_alias));
  constexpr int64_t kBlock = 16 / sizeof(T);
  T* best = static_cast<T*>(acc);
  const T* columns = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i < n && n >= kBlock; i += kBlock) {
    if (i + kBlock > n) i = n - kBlock;  // some columns again
    const T* row = columns + i;
    Block block = *reinterpret_cast<BlockAnywhere*>(best + i);
    for (int64_t r = 0; r < rows; ++r, row += row_stride) {
      const Block next = *reinterpret_cast<const BlockAnywhere*>(row);
      block = Better<kLargest>(block, next);
    }
    *reinterpret_cast<BlockAnywhere*>(best + i) = block;
  }
  for (; i < n; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      best[i] = Better<kLargest>(best[i], columns[r * row_stride + i]);
    }
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
    {BestRows<int8_t, true>, BestRows<uint8_t, true>, BestRows<int16_t, true>},
    {BestRows<int8_t, false>, BestRows<uint8_t, false>, BestRows<int16_t, false>},
};

}  // namespace TW_ISA
}  // namespace topwork
