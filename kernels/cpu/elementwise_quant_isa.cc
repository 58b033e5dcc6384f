// The loops over quantized tensors, one instruction set's copy (see elementwise_quant.h).
//
// Rescaling is written with vectors (compilers take 64-bit products apart), the rest as plain loops
// that compilers turn into vectors.
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise_quant.h"
#include "kernels/cpu/simd_single.h"
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
  static constexpr bool kIsWhole = false;
  ByteRange range;
  Epilogue(int32_t zero_point, int32_t lo, int32_t hi) : range(MakeByteRange(zero_point, lo, hi)) {}
};
// The same where the range IsWhole.
struct WholeEpilogue : Epilogue<int8_t> {
  static constexpr bool kIsWhole = true;
  explicit WholeEpilogue(int32_t zero_point) : Epilogue(zero_point, INT8_MIN, INT8_MAX) {}
};
// The first `count` of kN vectors of results; kN is 1 where they are less than all.
template <int kN, typename T, class E>
TW_INLINE void Put(const E& epilogue, T* y, const IVec (&v)[kN], int count) {
  if constexpr (sizeof(T) == 1) {
    const ByteVec bytes = PackInts<E::kIsWhole>(epilogue.range, v);
    StoreParts<kN>(reinterpret_cast<uint8_t*>(y), bytes, 0, count);
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

// Makes a function of two vectors one of kN pairs of them.
template <typename F>
struct EachPair {
  F f;
  template <int kN>
  __attribute__((always_inline)) void operator()(const IVec (&a)[kN], const IVec (&b)[kN],
                                                 IVec (&v)[kN]) const {
    for (int j = 0; j < kN; ++j) v[j] = f(a[j], b[j]);
  }
};

// y = f(a, b) for n elements, by four vectors or by one. Where a step is 0, kLanes values serve all.
template <typename T, class E, typename F>
TW_INLINE void MapTwo(const T* a, int a_step, const T* b, int b_step, T* y, int64_t n,
                      const E& epilogue, const F& f) {
  const int64_t a_next = a_step * kLanes, b_next = b_step * kLanes;
  for (; n >= 4 * kLanes; n -= 4 * kLanes) {
    IVec va[4], vb[4], v[4];
    LoadFours(a, a_next, va, b, b_next, vb);
    f(va, vb, v);
    Put<4>(epilogue, y, v, 4 * kLanes);
    a += 4 * a_next;
    b += 4 * b_next;
    y += 4 * kLanes;
  }
  for (; n > 0; n -= kLanes) {
    const int count = static_cast<int>(n < kLanes ? n : kLanes);
    const bool is_whole = count == kLanes;
    const IVec va[1] = {is_whole ? LoadLanes(a) : LoadFew(a, count)};
    const IVec vb[1] = {is_whole ? LoadLanes(b) : LoadFew(b, count)};
    IVec v[1];
    f(va, vb, v);
    Put<1>(epilogue, y, v, count);
    a += a_next;
    b += b_next;
    y += kLanes;
  }
}

template <typename T, class E, typename F>
TW_INLINE void Rows(const QuantBinaryTile& t, const E& epilogue, const F& f) {
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

// How a factor is applied: as SmallFactors, or in any way.
enum class Way { kSmall, kAny };

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

// ADD, and SUB where `negate` is -1, in fixed point.
struct FixedSum {
  VectorFactors scale_a, scale_b, scale_y;
  IVec mask, a_offset, b_offset, negate;
  int32_t left_shift;

  FixedSum(const QuantBinaryParams& p, bool is_unsigned, int32_t negate_b)
      : scale_a(Spread(p.scale_a)),
        scale_b(Spread(p.scale_b)),
        scale_y(Spread(p.scale_y)),
        mask(MaskOf(is_unsigned)),
        a_offset(Broadcast(p.a_offset)),
        b_offset(Broadcast(p.b_offset)),
        negate(Broadcast(negate_b)),
        left_shift(p.left_shift) {}
};
TW_INLINE IVec AddFixed(const FixedSum& s, IVec a, IVec b) {
  const IVec wide_a = ApplyFactors(s.scale_a, ((a & s.mask) + s.a_offset) << s.left_shift);
  const IVec wide_b = ApplyFactors(s.scale_b, ((b & s.mask) + s.b_offset) << s.left_shift);
  return ApplyFactors(s.scale_y, wide_a + ((wide_b ^ s.negate) - s.negate));
}

[[maybe_unused]] __attribute__((noinline, cold)) IVec SettleTies(const FixedSum& s, IVec a,
                                                                 IVec b) {
  return AddFixed(s, a, b);
}

// The same in single precision, which may be wrong near ties only: there fixed point decides.
struct RealSum {
  float a, b, c;  // a result is a * va + b * vb + c, for va and vb with their zero points
  float error;    // of a result; a large one where the sum cannot be had so
  explicit RealSum(const QuantBinaryParams& p, int32_t negate) {
    const auto real = [](const FixedFactor& f) {
      return static_cast<double>(f.mantissa) / static_cast<double>(int64_t{1} << (31 - f.shift));
    };
    const auto is_usual_one = [](const FixedFactor& f) { return f.shift <= 0 && f.shift > -31; };
    const bool is_usual = is_usual_one(p.scale_a) && is_usual_one(p.scale_b) &&
                          is_usual_one(p.scale_y) && p.left_shift <= 20;
    const double y = is_usual ? real(p.scale_y) : 1.0;
    const double fine = y * static_cast<double>(int64_t{1} << p.left_shift);
    const double left = is_usual ? real(p.scale_a) * fine : 0.0;
    const double right = is_usual ? real(p.scale_b) * fine : 0.0;
    a = static_cast<float>(left);
    b = static_cast<float>(negate != 0 ? -right : right);
    c = static_cast<float>(left * p.a_offset + (negate != 0 ? -right : right) * p.b_offset);
    // Factors, products and sums err by 2^-24 each, of 510 at most; in fixed point the terms by 1
    // each, and the result by half a unit before its last shift.
    error = static_cast<float>(510.0 * (left + right) / 4194304.0 + 3.0 * y);
  }
};

template <bool kIsUnsigned>
struct RealAdder {
  const FixedSum& fixed;
  Vec a, b, c;
  float largest_rest;
  template <int kN>
  __attribute__((always_inline)) void operator()(const IVec (&va)[kN], const IVec (&vb)[kN],
                                                 IVec (&v)[kN]) const {
    const auto real = [](IVec x) { return ToFloat(kIsUnsigned ? x & 255 : x); };
    Vec rest = {};
    for (int j = 0; j < kN; ++j) {
      const Vec y = real(va[j]) * a + (real(vb[j]) * b + c);
      v[j] = RoundToInts(y);
      rest = LargerRest(rest, y);
    }
    if (__builtin_expect(!IsAnyAbove(rest, largest_rest), 1)) return;
    for (int j = 0; j < kN; ++j) v[j] = SettleTies(fixed, va[j], vb[j]);
  }
};

#if defined(TW_HAVE_SINGLE_FACTORS)
// The same where it is known not to be wrong.
template <bool kIsUnsigned>
struct SingleAdder {
  Vec a, b, c;
  __attribute__((always_inline)) IVec operator()(IVec va, IVec vb) const {
    const auto real = [](IVec x) { return ToFloat(kIsUnsigned ? x & 255 : x); };
    return RoundToInts(MultiplyAdd(real(va), a, MultiplyAdd(real(vb), b, c)));
  }
};
template <bool kIsUnsigned>
void AddSingles(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  const SingleAdder<kIsUnsigned> add{Vec{} + p.sum_a, Vec{} + p.sum_b, Vec{} + p.sum_c};
  Rows<int8_t>(tile, Epilogue<int8_t>(p.y_offset, p.lo, p.hi),
               EachPair<SingleAdder<kIsUnsigned>>{add});
}
#endif

template <typename T, bool kIsUnsigned>
void AddTerms(const QuantBinaryTile& tile, const QuantBinaryParams& p, int32_t negate) {
  const FixedSum fixed(p, kIsUnsigned, negate);
  const Epilogue<T> epilogue(p.y_offset, p.lo, p.hi);
  if constexpr (sizeof(T) == 1 && !kShortLoops) {
    const RealSum real(p, negate);
    if (real.error < 1.0f / 256.0f) {
      const RealAdder<kIsUnsigned> add{fixed, Vec{} + real.a, Vec{} + real.b, Vec{} + real.c,
                                       0.5f - real.error};
      if (kPacksWhole && IsWhole(p.lo, p.hi)) return Rows<T>(tile, WholeEpilogue(p.y_offset), add);
      return Rows<T>(tile, epilogue, add);
    }
  }
  const auto add = [&](IVec a, IVec b) { return AddFixed(fixed, a, b); };
  Rows<T>(tile, epilogue, EachPair<decltype(add)>{add});
}
template <bool kIsUnsigned, int32_t kNegate>
void AddBytes(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
#if defined(TW_HAVE_SINGLE_FACTORS)
  if (p.sum_a != 0.0f) return AddSingles<kIsUnsigned>(tile, p);
#endif
  AddTerms<int8_t, kIsUnsigned>(tile, p, kNegate);
}
template <int32_t kNegate>
void AddInt16(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  AddTerms<int16_t, false>(tile, p, kNegate);
}

template <typename T, Way kY>
void MulScaled(const QuantBinaryTile& tile, const QuantBinaryParams& p, bool is_unsigned) {
  const Factor<kY> scale_y(p.scale_y);
  const IVec mask = MaskOf(is_unsigned);
  const auto multiply = [&](IVec a, IVec b) {
    return Apply(scale_y, ((a & mask) + p.a_offset) * ((b & mask) + p.b_offset));
  };
  Rows<T>(tile, Epilogue<T>(p.y_offset, p.lo, p.hi), EachPair<decltype(multiply)>{multiply});
}

#if defined(TW_HAVE_SINGLE_FACTORS)
// The product of two bytes without their zero points is exact in single precision.
template <bool kIsUnsigned>
struct SingleMultiplier {
  IVec b_offset;
  Vec a_offset, shift, twice, scale, addend, mirrored_addend;
  explicit SingleMultiplier(const QuantBinaryParams& p)
      : b_offset(Broadcast(p.b_offset)),
        a_offset(Vec{} + static_cast<float>(p.a_offset)),
        shift(Vec{} + static_cast<float>(p.single_shift)),
        twice(shift + shift),
        scale(Vec{} + p.single_scale),
        addend(Vec{} + p.single_addend),
        mirrored_addend(2.0f * kRounder - addend) {}
  static __attribute__((always_inline)) IVec ValueOf(IVec x) { return kIsUnsigned ? x & 255 : x; }
  // What is multiplied by a, and what is added.
  __attribute__((always_inline)) Vec FactorOf(IVec b) const {
    return ToFloat(ValueOf(b) + b_offset);
  }
  __attribute__((always_inline)) Vec TermOf(Vec factor) const {
    return MultiplyAdd(a_offset, factor, shift);
  }
  __attribute__((always_inline)) IVec operator()(IVec a, Vec factor, Vec term) const {
    const Vec x = MultiplyAdd(ToFloat(ValueOf(a)), factor, term);
#if defined(__AVX512F__)
    const __mmask16 below = _mm512_cmp_ps_mask(x, shift, _CMP_LT_OQ);
    const Vec from = _mm512_mask_sub_ps(x, below, x, twice);
    const Vec end = _mm512_mask_blend_ps(below, addend, mirrored_addend);
#else
    const Vec from = x < shift ? x - twice : x;
    const Vec end = x < shift ? mirrored_addend : addend;
#endif
    return reinterpret_cast<IVec>(MultiplyAdd(from, scale, end)) - kRounderBits;
  }
  __attribute__((always_inline)) IVec operator()(IVec a, IVec b) const {
    const Vec factor = FactorOf(b);
    return (*this)(a, factor, TermOf(factor));
  }
};

// All rows have the same row of b: its factors stay in registers.
template <bool kIsUnsigned>
void MulByRow(const QuantBinaryTile& t, const QuantBinaryParams& p) {
  const SingleMultiplier<kIsUnsigned> multiply(p);
  const Epilogue<int8_t> epilogue(p.y_offset, p.lo, p.hi);
  const int8_t* a = static_cast<const int8_t*>(t.a);
  const int8_t* b = static_cast<const int8_t*>(t.b);
  int8_t* y = static_cast<int8_t*>(t.y);
  int64_t i = 0;
  for (; i + 4 * kLanes <= t.n; i += 4 * kLanes) {
    Vec factor[4], term[4];
    for (int j = 0; j < 4; ++j) {
      factor[j] = multiply.FactorOf(LoadLanes(b + i + j * kLanes));
      term[j] = multiply.TermOf(factor[j]);
    }
    for (int64_t r = 0; r < t.rows; ++r) {
      IVec v[4];
      for (int j = 0; j < 4; ++j) {
        v[j] = multiply(LoadLanes(a + r * t.a_row + i + j * kLanes), factor[j], term[j]);
      }
      Put<4>(epilogue, y + r * t.n + i, v, 4 * kLanes);
    }
  }
  const EachPair<SingleMultiplier<kIsUnsigned>> pairs{multiply};
  for (int64_t r = 0; r < t.rows && i < t.n; ++r) {
    MapTwo(a + r * t.a_row + i, 1, b + i, 1, y + r * t.n + i, t.n - i, epilogue, pairs);
  }
}

QuantBinaryTile Swapped(QuantBinaryTile t) {
  const void* const a = t.a;
  t.a = t.b;
  t.b = a;
  t.a_row = t.b_row;
  t.b_row = 0;
  return t;
}
QuantBinaryParams Swapped(QuantBinaryParams p) {
  const int32_t a = p.a_offset;
  p.a_offset = p.b_offset;
  p.b_offset = a;
  return p;
}

template <bool kIsUnsigned>
void MulSingle(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  if (tile.a_step == 1 && tile.b_step == 1 && tile.rows > 1) {
    if (tile.b_row == 0) return MulByRow<kIsUnsigned>(tile, p);
    if (tile.a_row == 0) return MulByRow<kIsUnsigned>(Swapped(tile), Swapped(p));
  }
  Rows<int8_t>(tile, Epilogue<int8_t>(p.y_offset, p.lo, p.hi),
               EachPair<SingleMultiplier<kIsUnsigned>>{SingleMultiplier<kIsUnsigned>(p)});
}
#endif

template <bool kIsUnsigned>
void MulBytes(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
#if defined(TW_HAVE_SINGLE_FACTORS)
  if (p.single_scale > 0.0f) return MulSingle<kIsUnsigned>(tile, p);
#endif
  const auto mul =
      IsSmall(p.scale_y) ? MulScaled<int8_t, Way::kSmall> : MulScaled<int8_t, Way::kAny>;
  mul(tile, p, kIsUnsigned);
}
void MulInt16(const QuantBinaryTile& tile, const QuantBinaryParams& p) {
  MulScaled<int16_t, Way::kAny>(tile, p, false);
}

constexpr int64_t kLeastLookup = 64;  // fewer bytes are not worth loading the table

// What vectors leave is done by four loads at a time, which keeps the processor's load ports busy.
void Lookup(const uint8_t* x, uint8_t* y, const ByteRows& rows, const uint8_t* table) {
  const int64_t n = rows.n;
  const int64_t done = n * rows.rows < kLeastLookup ? 0 : LookupVectors(x, y, rows, table);
  if (done == n) return;
  for (int64_t row = 0; row < rows.rows; ++row, x += rows.x_step, y += rows.y_step) {
    int64_t i = done;
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

// A loop, or null where the build has no tensors that it is for.
template <typename Loop>
constexpr Loop* LoopFor(DType dtype, Loop* loop) {
  return IsSelected(dtype) ? loop : nullptr;
}
template <typename Loop>
constexpr Loop* LoopFor(OpCode code, DType dtype, Loop* loop) {
  return HasType(code, dtype) ? loop : nullptr;
}

}  // namespace

const QuantElementwiseKernels kQuantElementwiseKernels = {
    {{LoopFor(OpCode::kAdd, DType::kInt8, AddBytes<false, 0>),
      LoopFor(OpCode::kAdd, DType::kUInt8, AddBytes<true, 0>),
      LoopFor(OpCode::kAdd, DType::kInt16, AddInt16<0>)},
     {LoopFor(OpCode::kSub, DType::kInt8, AddBytes<false, -1>),
      LoopFor(OpCode::kSub, DType::kUInt8, AddBytes<true, -1>),
      LoopFor(OpCode::kSub, DType::kInt16, AddInt16<-1>)},
     {LoopFor(OpCode::kMul, DType::kInt8, MulBytes<false>),
      LoopFor(OpCode::kMul, DType::kUInt8, MulBytes<true>),
      LoopFor(OpCode::kMul, DType::kInt16, MulInt16)}},
    Lookup,
    LoopFor(DType::kInt16, Requantize<int16_t, int8_t>),
    LoopFor(DType::kInt16, Requantize<int16_t, int16_t>),
    LoopFor(DType::kInt16, Requantize<int16_t, int32_t>),
    LoopFor(DType::kInt8, Requantize<int32_t, int8_t>),
    LoopFor(DType::kUInt8, RequantizeToUnsigned),
    LoopFor(DType::kInt16, Requantize<int32_t, int16_t>),
    {LoopFor(DType::kInt8, SumRows<int8_t>), LoopFor(DType::kUInt8, SumRows<uint8_t>),
     LoopFor(DType::kInt16, SumRows<int16_t>)},
};

}  // namespace TW_ISA
}  // namespace topwork
