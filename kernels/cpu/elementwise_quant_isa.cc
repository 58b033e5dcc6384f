// The loops over quantized tensors, one instruction set's copy (see elementwise_quant.h).
//
// Rescaling is written with vectors (compilers take 64-bit products apart), the rest as plain loops
// that compilers turn into vectors.
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/simd_quant.h"
#include "kernels/cpu/simd_table.h"

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

// The first `count` values; the others are zero.
template <typename T>
TW_INLINE IVec LoadFew(const T* p, int count) {
  constexpr int kBytes = kLanes * static_cast<int>(sizeof(T));
  T few[kLanes] = {};
  CopyFewBytes<kBytes>(reinterpret_cast<uint8_t*>(few), reinterpret_cast<const uint8_t*>(p),
                       count * static_cast<int>(sizeof(T)));
  return LoadLanes(few);
}

// How results become a T: their zero point is added, and they are clamped. int8_t: or uint8_t, as
// their range says.
template <typename T>
struct Epilogue {
  Placer placer;
  Epilogue(int32_t zero_point, int32_t lo, int32_t hi) : placer(zero_point, lo, hi) {}
};
template <>
struct Epilogue<int8_t> {
  ByteRange range;
  Epilogue(int32_t zero_point, int32_t lo, int32_t hi) : range(MakeByteRange(zero_point, lo, hi)) {}
};
// The first `count` of kN vectors of results; kN is 1 where they are less than all.
template <int kN, typename T>
TW_INLINE void Put(const Epilogue<T>& epilogue, T* y, const IVec (&v)[kN], int count) {
  if constexpr (sizeof(T) == 1) {
    StoreParts<kN>(reinterpret_cast<uint8_t*>(y), PackInts<kN>(epilogue.range, v), 0, count);
  } else if (count == kN * kLanes) {
    for (int j = 0; j < kN; ++j) StoreLanes(y + j * kLanes, Place(epilogue.placer, v[j]));
  } else {
    T few[kLanes];
    StoreLanes(few, Place(epilogue.placer, v[0]));
    for (int k = 0; k < count; ++k) y[k] = few[k];
  }
}

// y[i] = f(x[i]) for i < n, four vectors at a time.
template <typename From, typename To, typename F>
TW_INLINE void Map(const From* x, To* y, int64_t n, const Epilogue<To>& epilogue, F f) {
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    IVec v[4];
    for (int j = 0; j < 4; ++j) v[j] = f(LoadLanes(x + i + j * kLanes));
    Put<4>(epilogue, y + i, v, 4 * kLanes);
  }
  for (; i < n; i += kLanes) {
    const int count = static_cast<int>(n - i < kLanes ? n - i : kLanes);
    const IVec v[1] = {f(count == kLanes ? LoadLanes(x + i) : LoadFew(x + i, count))};
    Put<1>(epilogue, y + i, v, count);
  }
}

// y[i] = f(a[i], b[i]) for i < n. Where a step is 0, kLanes values serve all i.
template <typename T, typename F>
TW_INLINE void MapTwo(const T* a, int a_step, const T* b, int b_step, T* y, int64_t n,
                      const Epilogue<T>& epilogue, F f) {
  const int64_t a_next = a_step * kLanes, b_next = b_step * kLanes;
  for (; n >= 4 * kLanes; n -= 4 * kLanes) {
    IVec v[4];
    for (int j = 0; j < 4; ++j) v[j] = f(LoadLanes(a + j * a_next), LoadLanes(b + j * b_next));
    Put<4>(epilogue, y, v, 4 * kLanes);
    a += 4 * a_next;
    b += 4 * b_next;
    y += 4 * kLanes;
  }
  for (; n > 0; n -= kLanes) {
    const int count = static_cast<int>(n < kLanes ? n : kLanes);
    const bool is_whole = count == kLanes;
    const IVec v[1] = {f(is_whole ? LoadLanes(a) : LoadFew(a, count),
                         is_whole ? LoadLanes(b) : LoadFew(b, count))};
    Put<1>(epilogue, y, v, count);
    a += a_next;
    b += b_next;
    y += kLanes;
  }
}

template <typename T, typename F>
TW_INLINE void Rows(const QuantBinaryTile& t, const Epilogue<T>& epilogue, F f) {
  for (int64_t r = 0; r < t.rows && t.n > 0; ++r) {
    const T* a = static_cast<const T*>(t.a) + r * t.a_row;
    const T* b = static_cast<const T*>(t.b) + r * t.b_row;
    T all_a[kLanes], all_b[kLanes];
    if (t.a_step == 0) {
      for (int i = 0; i < kLanes; ++i) all_a[i] = *a;
      a = all_a;
    }
    if (t.b_step == 0) {
      for (int i = 0; i < kLanes; ++i) all_b[i] = *b;
      b = all_b;
    }
    MapTwo(a, t.a_step, b, t.b_step, static_cast<T*>(t.y) + r * t.n, t.n, epilogue, f);
  }
}

// How a factor is applied: a half before a shift to the left, as SmallFactors, or in any way.
enum class Way { kHalf, kSmall, kAny };

// Values lie within ±2^29 if `is_bounded`.
Way WayOf(const FixedFactor& factor, bool is_bounded) {
  const bool is_small = factor.mantissa >= 1 << 30 && factor.shift < 0 && factor.shift >= -30;
  return is_bounded && is_small ? Way::kSmall : Way::kAny;
}

template <Way kWay>
struct Factor {
  VectorFactors any;
  explicit Factor(const FixedFactor& factor) : any(Spread(factor)) {}
};
template <>
struct Factor<Way::kSmall> {
  SmallFactors small;
  explicit Factor(const FixedFactor& factor)
      : small(SpreadSmallFactor(factor.mantissa, -factor.shift)) {}
};
TW_INLINE IVec Apply(const Factor<Way::kAny>& f, IVec x) { return ApplyFactors(f.any, x); }
TW_INLINE IVec Apply(const Factor<Way::kSmall>& f, IVec x) { return ApplySmallFactors(f.small, x); }

// Bytes are loaded as signed ones; this makes them what they are.
TW_INLINE IVec MaskOf(bool is_unsigned) { return Broadcast(is_unsigned ? 255 : -1); }

// (((x & mask) + offset) << left_shift) * factor.
template <Way kWay>
struct WideTerm {
  Factor<kWay> factor;
  IVec mask, offset;
  int32_t left_shift;
  WideTerm(const FixedFactor& factor, bool is_unsigned, int32_t offset, int32_t left_shift)
      : factor(factor),
        mask(MaskOf(is_unsigned)),
        offset(Broadcast(offset)),
        left_shift(left_shift) {}
};
template <>
struct WideTerm<Way::kHalf> {
  IVec mask, offset;
  int32_t left_shift;
  WideTerm(const FixedFactor&, bool is_unsigned, int32_t offset, int32_t left_shift)
      : mask(MaskOf(is_unsigned)), offset(Broadcast(offset)), left_shift(left_shift - 1) {}
};
template <Way kWay>
TW_INLINE IVec Widen(const WideTerm<kWay>& term, IVec x) {
  const IVec wide = ((x & term.mask) + term.offset) << term.left_shift;
  if constexpr (kWay == Way::kHalf) {
    return wide;
  } else {
    return Apply(term.factor, wide);
  }
}

// `negate` is -1 where the second term is subtracted, else 0. kIsPlain: signed values, added.
template <typename T, bool kIsPlain, Way kA, Way kB, Way kY>
void AddTerms(const QuantBinaryTile& tile, const QuantBinaryParams& p, bool is_unsigned,
              int32_t negate) {
  const WideTerm<kA> term_a(p.scale_a, !kIsPlain && is_unsigned, p.a_offset, p.left_shift);
  const WideTerm<kB> term_b(p.scale_b, !kIsPlain && is_unsigned, p.b_offset, p.left_shift);
  const Factor<kY> scale_y(p.scale_y);
  const IVec sign = Broadcast(kIsPlain ? 0 : negate);
  Rows<T>(tile, Epilogue<T>(p.y_offset, p.lo, p.hi), [&](IVec a, IVec b) {
    return Apply(scale_y, Widen(term_a, a) + ((Widen(term_b, b) ^ sign) - sign));
  });
}

// Of the two terms, the one with the larger scale has the factor 1/2. Sums of signed bytes, which
// are the usual case, have code of their own; the other types and signs share theirs.
template <bool kIsUnsigned, int32_t kNegate>
void AddBytes(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  constexpr Way kAny = Way::kAny, kHalf = Way::kHalf, kSmall = Way::kSmall;
  const bool is_bounded = p.left_shift <= 20;  // 511 << 20, and halves of both
  const auto way_of = [&](const FixedFactor& f) {
    const bool is_half = f.mantissa == int32_t{1} << 30 && f.shift == 0 && p.left_shift > 0;
    return is_half ? kHalf : WayOf(f, is_bounded);
  };
  const Way a = way_of(p.scale_a), b = way_of(p.scale_b);
  const bool is_small = WayOf(p.scale_y, is_bounded) == kSmall;
  const bool begins = is_small && a == kHalf && b == kSmall;
  const bool ends = is_small && a == kSmall && b == kHalf;
  if (kIsUnsigned || kNegate != 0) {
    const auto add = begins ? AddTerms<int8_t, false, kHalf, kSmall, kSmall>
                     : ends ? AddTerms<int8_t, false, kSmall, kHalf, kSmall>
                            : AddTerms<int8_t, false, kAny, kAny, kAny>;
    return add(tile, p, kIsUnsigned, kNegate);
  }
  if (begins) return AddTerms<int8_t, true, kHalf, kSmall, kSmall>(tile, p, false, 0);
  if (is_small && a == kHalf && b == kHalf) {
    return AddTerms<int8_t, true, kHalf, kHalf, kSmall>(tile, p, false, 0);
  }
  if (!ends) return AddTerms<int8_t, false, kAny, kAny, kAny>(tile, p, false, 0);
  QuantBinaryTile swapped = tile;
  swapped.a = tile.b;
  swapped.a_row = tile.b_row;
  swapped.a_step = tile.b_step;
  swapped.b = tile.a;
  swapped.b_row = tile.a_row;
  swapped.b_step = tile.a_step;
  QuantBinaryParams params = p;
  params.a_offset = p.b_offset;
  params.b_offset = p.a_offset;
  params.scale_a = p.scale_b;
  params.scale_b = p.scale_a;
  AddTerms<int8_t, true, kHalf, kSmall, kSmall>(swapped, params, false, 0);
}
template <int32_t kNegate>
void AddInt16(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  AddTerms<int16_t, false, Way::kAny, Way::kAny, Way::kAny>(tile, p, false, kNegate);
}

template <typename T, Way kY>
void MulScaled(const QuantBinaryTile& tile, const QuantBinaryParams& p, bool is_unsigned) {
  const Factor<kY> scale_y(p.scale_y);
  const IVec mask = MaskOf(is_unsigned);
  Rows<T>(tile, Epilogue<T>(p.y_offset, p.lo, p.hi), [&](IVec a, IVec b) {
    return Apply(scale_y, ((a & mask) + p.a_offset) * ((b & mask) + p.b_offset));
  });
}

template <bool kIsUnsigned>
void MulBytes(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const bool is_small = WayOf(p.scale_y, true) == Way::kSmall;
  const auto mul = is_small ? MulScaled<int8_t, Way::kSmall> : MulScaled<int8_t, Way::kAny>;
  mul(tile, p, kIsUnsigned);
}
void MulInt16(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  MulScaled<int16_t, Way::kAny>(tile, p, false);
}

constexpr int64_t kLeastLookup = 64;  // fewer bytes are not worth loading the table

// What vectors leave is done by four loads at a time, which keeps the processor's load ports busy.
void Lookup(const uint8_t* x, uint8_t* y, int64_t n, const uint8_t* table) {
  int64_t i = n < kLeastLookup ? 0 : LookupVectors(x, y, n, table);
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
  Map(x, y, n, Epilogue<To>(p.y_offset, p.lo, p.hi),
      [&](IVec v) { return ApplyFactors(scale, v + p.x_offset); });
}

void RequantizeToUnsigned(const int32_t* x, uint8_t* y, int64_t n, const RequantizeParams& p) {
  Requantize(x, reinterpret_cast<int8_t*>(y), n, p);
}

// The sums of kN vectors of columns from x on are added to acc, but for the first `skipped` ones.
template <int kN, typename T>
TW_INLINE void SumStrip(int32_t* acc, const T* x, int64_t rows, int64_t row_stride, int skipped) {
  IVec sums[kN] = {};
  for (int64_t r = 0; r < rows; ++r, x += row_stride) {
    for (int j = 0; j < kN; ++j) sums[j] += LoadLanes(x + j * kLanes);
  }
  if (skipped != 0) {
    for (int i = 0; i < kLanes; ++i) sums[0][i] = i < skipped ? 0 : sums[0][i];
  }
  for (int j = 0; j < kN; ++j) StoreInts(acc + j * kLanes, LoadInts(acc + j * kLanes) + sums[j]);
}

template <typename T>
void SumRows(int32_t* acc, const void* x, int64_t rows, int64_t row_stride, int64_t n) {
  const T* columns = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    SumStrip<4>(acc + i, columns + i, rows, row_stride, 0);
  }
  for (; i + kLanes <= n; i += kLanes) SumStrip<1>(acc + i, columns + i, rows, row_stride, 0);
  if (i < n && n >= kLanes) {
    const int64_t from = n - kLanes;
    SumStrip<1>(acc + from, columns + from, rows, row_stride, static_cast<int>(i - from));
    return;
  }
  for (; i < n; ++i) {
    for (int64_t r = 0; r < rows; ++r) acc[i] += columns[r * row_stride + i];
  }
}

}  // namespace

const QuantElementwiseKernels kQuantElementwiseKernels = {
    {{AddBytes<false, 0>, AddBytes<true, 0>, AddInt16<0>},
     {AddBytes<false, -1>, AddBytes<true, -1>, AddInt16<-1>},
     {MulBytes<false>, MulBytes<true>, MulInt16}},
    Lookup,
    Requantize<int16_t, int8_t>,
    Requantize<int16_t, int16_t>,
    Requantize<int16_t, int32_t>,
    Requantize<int32_t, int8_t>,
    RequantizeToUnsigned,
    Requantize<int32_t, int16_t>,
    {SumRows<int8_t>, SumRows<uint8_t>, SumRows<int16_t>},
};

}  // namespace TW_ISA
}  // namespace topwork
