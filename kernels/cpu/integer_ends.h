// What the sums of integer tiles end in: bytes, floats, or themselves; for integer_gemm_isa.cc.
#ifndef TOPWORK_KERNELS_CPU_INTEGER_ENDS_H_
#define TOPWORK_KERNELS_CPU_INTEGER_ENDS_H_

#include "kernels/contract/selection.h"
#include "kernels/cpu/integer.h"
#include "kernels/cpu/integer_tiles.h"
#include "kernels/cpu/simd_single.h"

namespace topwork {
namespace TW_ISA {
namespace {

template <int n>
struct Number {
  static constexpr int value = n;
};

// What vectors of columns end in: from sums with their bias to bytes.
struct BiasedColumns {
  static const int32_t* Bias(const IntegerTask& t) { return t.bias; }
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackInts(range, v);
  }
};

struct FixedColumns : BiasedColumns {
  VectorFactors factors;
  void Load(const ColumnFactors& f, int64_t n) {
    factors = LoadFactors(f.mantissa + n, f.left != nullptr ? f.left + n : nullptr, f.right + n);
  }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return ApplyFactors(factors, x); }
};

// kIsWhole: the range of the bytes IsWhole.
template <bool kIsWhole>
struct SmallColumns : BiasedColumns {
  ScaleFactors factors;
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackInts<kIsWhole>(range, v);
  }
  void Load(const ColumnFactors& f, int64_t n) {
    factors = MakeScaleFactors(LoadInts(f.mantissa + n), LoadInts(f.right + n));
  }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return Scale(factors, x); }
};

#if defined(TW_HAVE_SINGLE_FACTORS)
template <class Singles, bool kIsWhole>
struct SingleColumns {
  Singles factors;
  static const int32_t* Bias(const IntegerTask& t) { return t.factors.single.bias; }
  void Load(const ColumnFactors& f, int64_t n) { factors = Singles(f.single, n); }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return Scale(factors, x); }
  template <int kN>
  static __attribute__((always_inline)) ByteVec Pack(const ByteRange& range, const IVec (&v)[kN]) {
    return PackSingles<kIsWhole>(range, v);
  }
};
#endif

struct RealColumns : BiasedColumns {
  const double* factors;
  void Load(const ColumnFactors& f, int64_t n) { factors = f.real + n; }
  __attribute__((always_inline)) IVec operator()(IVec x) const { return ScaleByReals(x, factors); }
};

// What the rows of kN vectors of columns from column n on end in. (What a row needs is in locals: bytes
// that are stored may alias the task.)
template <class Columns, int kN>
struct RowsEnd {
  Columns columns[kN];
  IVec bias[kN];
  ByteRange range;
  const int32_t* products;  // of rows `stride` apart
  const int32_t* row_term;  // or null
  int64_t stride, ldc;
  uint8_t* out;
  int count;  // of columns

  // Ends kM rows, which fill the bytes of a vector at most. kIsPlain: all columns are there, and no
  // row_term.
  template <int kM, bool kIsPlain>
  __attribute__((always_inline)) void End() {
    IVec v[kM * kN];
#pragma GCC unroll 4
    for (int i = 0; i < kM * kN; ++i) {
      IVec sum = LoadInts(products + i / kN * stride + i % kN * kLanes) + bias[i % kN];
      if (!kIsPlain && row_term != nullptr) sum += row_term[i / kN];
      v[i] = columns[i % kN](sum);
    }
    const ByteVec bytes = Columns::Pack(range, v);
    const int n = kIsPlain ? kN * kLanes : count;
    if (!kShortLoops && kM > 1 && n == kN * kLanes && ldc == n) {  // rows are neighbours
      StoreInts(out, reinterpret_cast<IVec>(bytes));
    } else {
#pragma GCC unroll 4
      for (int m = 0; m < kM; ++m) StoreParts<kN>(out + m * ldc, bytes, m * kN, n);
    }
    products += kM * stride;
    if (!kIsPlain && row_term != nullptr) row_term += kM;
    out += kM * ldc;
  }

  template <bool kIsPlain>
  __attribute__((always_inline)) void EndAll(int rows) {
    constexpr int kM = 4 / kN;  // rows at a time
    for (; rows >= kM; rows -= kM) End<kM, kIsPlain>();
    for (; rows > 0; --rows) End<1, kIsPlain>();
  }
};

// kN vectors of columns from n on, of rows of sums `stride` apart.
template <class Columns, int kN>
void EndColumns(const IntegerTask& t, const int32_t* products, int64_t stride, int64_t row,
                int rows, int64_t n) {
  RowsEnd<Columns, kN> end;
  end.range = MakeByteRange(t.zero_point, t.least + t.zero_point, t.most + t.zero_point);
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    end.columns[j].Load(t.factors, n + j * kLanes);
    end.bias[j] = LoadInts(Columns::Bias(t) + n + j * kLanes);
  }
  end.products = products;
  end.row_term = t.row_term != nullptr ? t.row_term + row : nullptr;
  end.stride = stride;
  end.ldc = t.ldc;
  end.out = static_cast<uint8_t*>(t.c) + row * t.ldc + n;
  end.count = t.n - n < kN * kLanes ? static_cast<int>(t.n - n) : kN * kLanes;
#if !defined(__OPTIMIZE_SIZE__)
  const bool is_plain = end.row_term == nullptr && end.count == kN * kLanes;
  if (is_plain) return end.template EndAll<true>(rows);
#endif
  end.template EndAll<false>(rows);
}

using EndFunction = void (*)(const IntegerTask&, const int32_t*, int64_t, int64_t, int, int64_t);

// of(Number<n>()) for as many vectors.
template <class Of>
TW_INLINE auto OfVectors(int n_vectors, const Of& of) {
  constexpr int kThree = kMaxVectors < 3 ? kMaxVectors : 3;
  return n_vectors == 1   ? of(Number<1>())
         : n_vectors == 2 ? of(Number<2>())
         : n_vectors == 3 ? of(Number<kThree>())
                          : of(Number<kMaxVectors>());
}

template <class Columns>
EndFunction EndOf(int n_vectors) {
  return OfVectors(n_vectors, [](auto n) { return &EndColumns<Columns, decltype(n)::value>; });
}

void EndBytes(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
              int n_vectors) {
  const int64_t stride = n_vectors * kLanes;
#if defined(TW_HAVE_SINGLE_FACTORS)
  if (HaveSingles(t.factors.single, n0, stride)) {
    const bool whole = IsWhole(t.least + t.zero_point, t.most + t.zero_point);
    const auto end = t.factors.single.shift != nullptr
                         ? EndOf<SingleColumns<MirroredSingles, false>>
                     : whole ? EndOf<SingleColumns<VectorSingles, true>>
                             : EndOf<SingleColumns<VectorSingles, false>>;
    return end(n_vectors)(t, products, stride, row, rows, n0);
  }
#endif
  if (!kShortLoops && (t.factors.real != nullptr || t.factors.small)) {
    const bool whole = kPacksWhole && IsWhole(t.least + t.zero_point, t.most + t.zero_point);
    const auto end = !t.factors.small ? EndOf<RealColumns>
                     : whole          ? EndOf<SmallColumns<kPacksWhole>>
                                      : EndOf<SmallColumns<false>>;
    return end(n_vectors)(t, products, stride, row, rows, n0);
  }
  // Rare, or the least code: small factors are fixed point, too.
  const auto end = kShortLoops && t.factors.real != nullptr ? EndColumns<RealColumns, 1>
                                                            : EndColumns<FixedColumns, 1>;
  for (int j = 0; j < n_vectors; ++j) {
    end(t, products + j * kLanes, stride, row, rows, n0 + j * kLanes);
  }
}

// Results of a column's vector: `rows` of them.
struct FloatColumn {
  Vec scale, bias, lo, hi;
  IVec sum;
  int64_t n;
  int count;
};

// (What a row needs is in locals: floats that are stored may alias `t`.)
TW_INLINE void EndFloatColumn(const IntegerTask& t, const FloatColumn& c, const int32_t* products,
                              int64_t stride, int64_t row, int rows, Vec* least, Vec* most) {
  const int64_t ldc = t.ldc, step = t.row_step;
  const float* row_scale = t.row_scale + row * step;
  const int32_t no_zero = 0;
  const bool has_zero = t.row_zero != nullptr;
  const int32_t* row_zero = has_zero ? t.row_zero + row * step : &no_zero;
  const int64_t zero_step = has_zero ? step : 0;
  const float* addend = t.addend != nullptr ? t.addend + row * ldc + c.n : nullptr;
  float* out = static_cast<float*>(t.c) + row * ldc + c.n;
  Vec lesser = *least, greater = *most;
  for (int m = 0; m < rows; ++m, out += ldc, products += stride) {
    const IVec v = LoadInts(products) - c.sum * row_zero[m * zero_step];
    Vec f = ToFloat(v) * (c.scale * row_scale[m * step]) + c.bias;
    if (addend != nullptr) f += LoadFirst(addend + m * ldc, c.count);
    f = Clamp(f, c.lo, c.hi);
    lesser = Lesser(f, lesser);
    greater = Greater(f, greater);
    StoreFirst(out, f, c.count);
  }
  *least = lesser;
  *most = greater;
}

#if !defined(__OPTIMIZE_SIZE__)
// A row of kN whole vectors.
template <int kN>
TW_INLINE void EndFloatRow(const IVec (&sums)[kN], const Vec (&scale)[kN], const Vec (&bias)[kN],
                           Vec lo, Vec hi, const float* addend, float* out, Vec* least, Vec* most) {
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    Vec f = ToFloat(sums[j]) * scale[j] + bias[j];
    if (addend != nullptr) f += Load(addend + j * kLanes);
    f = Clamp(f, lo, hi);
    *least = Lesser(f, *least);
    *most = Greater(f, *most);
    Store(out + j * kLanes, f);
  }
}

// Rows of kN whole vectors, where all rows share a scale.
template <int kN>
void EndFloatRows(const IntegerTask& t, const int32_t* products, const int32_t* sums, int64_t row,
                  int rows, int64_t n0) {
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  const int32_t zero = t.row_zero != nullptr ? *t.row_zero : 0;
  Vec least = Vec{}, most = Vec{}, scale[kN], bias[kN];
  IVec sum[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) {
    const int64_t n = n0 + j * kLanes;
    scale[j] = Load(t.scale + n) * *t.row_scale;
    bias[j] = t.float_bias != nullptr ? Load(t.float_bias + n) : Vec{};
    sum[j] = LoadInts(sums + n) * zero;
  }
  const int64_t ldc = t.ldc;
  const float* addend = t.addend != nullptr ? t.addend + row * ldc + n0 : nullptr;
  float* out = static_cast<float*>(t.c) + row * ldc + n0;
  for (int m = 0; m < rows; ++m, out += ldc, products += kN * kLanes) {
    IVec v[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) v[j] = LoadInts(products + j * kLanes) - sum[j];
    EndFloatRow(v, scale, bias, lo, hi, addend != nullptr ? addend + m * ldc : nullptr, out, &least,
                &most);
  }
  if (t.range != nullptr) WidenRange(t.range, least, most);
}
#endif

void EndFloat(const IntegerTask& t, const int32_t* products, const int32_t* sums, int64_t row,
              int rows, int64_t n0, int n_vectors) {
#if !defined(__OPTIMIZE_SIZE__)
  if (t.row_step == 0 && n0 + n_vectors * kLanes <= t.n) {
    const auto end = OfVectors(n_vectors, [](auto n) { return &EndFloatRows<decltype(n)::value>; });
    return end(t, products, sums, row, rows, n0);
  }
#endif
  Vec least = Vec{}, most = Vec{};
  FloatColumn column;
  column.lo = Vec{} + t.lo;
  column.hi = Vec{} + t.hi;
  const int64_t stride = n_vectors * kLanes;
  for (int j = 0; j < n_vectors; ++j) {
    const int64_t n = column.n = n0 + j * kLanes;
    column.count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    column.scale = Load(t.scale + n);
    column.bias = t.float_bias != nullptr ? LoadFirst(t.float_bias + n, column.count) : Vec{};
    column.sum = LoadInts(sums + n);
    EndFloatColumn(t, column, products + j * kLanes, stride, row, rows, &least, &most);
  }
  if (t.range != nullptr) WidenRange(t.range, least, most);
}

void EndSums(const IntegerTask& t, const int32_t* products, int64_t row, int rows, int64_t n0,
             int n_vectors) {
  const int64_t width = n_vectors * kLanes;
  const int64_t count = t.n - n0 < width ? t.n - n0 : width;
  for (int m = 0; m < rows; ++m) {
    int32_t* out = static_cast<int32_t*>(t.c) + (row + m) * t.ldc + n0;
    for (int64_t i = 0; i < count; ++i) out[i] = products[m * width + i];
  }
}

TW_INLINE void EndTiles(const IntegerTask& t, const int32_t* products, const int32_t* sums,
                        int64_t row, int rows, int64_t n0, int n_vectors) {
  if (t.epilogue == IntegerEpilogue::kBytes) {
    EndBytes(t, products, row, rows, n0, n_vectors);
  } else if (t.epilogue == IntegerEpilogue::kSums) {
    EndSums(t, products, row, rows, n0, n_vectors);
  } else {
    EndFloat(t, products, sums, row, rows, n0, n_vectors);
  }
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_INTEGER_ENDS_H_
