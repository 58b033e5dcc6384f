// The float32 loops of unary operators, one instruction set's copy (see elementwise.h).
//
// Sine and cosine call libm element by element: they are rare, and it is exact for large angles.
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vector_math.h"

namespace topwork {
namespace TW_ISA {

extern const UnaryFunction kUnaryFunctions[kNumUnaryFns];
void EndRows(UnaryFn fn, const FloatRows& rows, KeptRange::Lanes* range);

namespace {

template <typename F>
TW_INLINE void Map(const float* x, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(y + i, f(Load(x + i)));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    StoreFirst(y + i, f(LoadFirst(x + i, rest)), rest);
  }
}

template <typename F>
TW_INLINE void MapScalars(const float* x, float* y, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

TW_INLINE Vec Sqrt(Vec x) {
  Vec y;
  for (int i = 0; i < kLanes; ++i) y[i] = __builtin_sqrtf(x[i]);
  return y;
}

void ReluOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return v < 0.0f ? Vec{} : v; });
}

void Relu6Of(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Clamp(v, Splat(0.0f), Splat(6.0f)); });
}

void ReluN1To1Of(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Clamp(v, Splat(-1.0f), Splat(1.0f)); });
}

void Relu0To1Of(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Clamp(v, Splat(0.0f), Splat(1.0f)); });
}

void LeakyReluOf(const float* x, float* y, int64_t n, float alpha) {
  const Vec slope = Splat(alpha);
  Map(x, y, n, [slope](Vec v) { return v > 0.0f ? v : v * slope; });
}

void EluOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return v < 0.0f ? Expm1OfNegative(v) : v; });
}

void GeluOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return 0.5f * v * (1.0f + Erf(v * 0.707106781f)); });
}

// (1 + tanh u) / 2 is the logistic function of 2u.
void GeluTanhOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) {
    const Vec u = v * 1.59576912f * (1.0f + 0.044715f * v * v);
    return v * Logistic(u);
  });
}

#if defined(__AVX512F__)
TW_INLINE Vec MultiplyAdd(Vec x, Vec y, Vec z) { return _mm512_fmadd_ps(x, y, z); }
#elif defined(__AVX2__)
TW_INLINE Vec MultiplyAdd(Vec x, Vec y, Vec z) { return _mm256_fmadd_ps(x, y, z); }
#elif defined(__aarch64__)
TW_INLINE Vec MultiplyAdd(Vec x, Vec y, Vec z) { return vfmaq_f32(z, x, y); }
#endif

// x / 6 for what x + 3 may be, 0 or 2^-22 and more, up to 6.
TW_INLINE Vec SixthOf(Vec x) {
#if (defined(__AVX2__) || defined(__aarch64__)) && !defined(__OPTIMIZE_SIZE__)
  // All of them have the bits of a division, which takes several times as long.
  const Vec sixth = Splat(1.0f / 6.0f), q = x * sixth;
  return MultiplyAdd(MultiplyAdd(q, Splat(-6.0f), x), sixth, q);
#else
  return x / 6.0f;
#endif
}

TW_INLINE Vec HardSwish(Vec v) { return v * SixthOf(Clamp(v + 3.0f, Splat(0.0f), Splat(6.0f))); }
TW_INLINE Vec Swish(Vec v) { return v * Logistic(v); }

void HardSwishOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return HardSwish(v); });
}

void LogisticOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Logistic(v); });
}

void SwishOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Swish(v); });
}

// See ElementwiseKernels::end_rows. The last values of a row are a whole vector that was read before its
// first ones became results.
template <bool kWidens, typename F>
TW_INLINE void MapRows(const FloatRows& rows, KeptRange::Lanes* range, F f) {
  Vec least = {}, most = {};
  const auto end = [&](Vec v) {
    if (!kWidens) return;
    least = Lesser(v, least);
    most = Greater(v, most);
  };
  const int64_t n = rows.n, rest = n % kLanes;
  for (int64_t row = 0; row < rows.rows; ++row) {
    float* y = rows.values + row * rows.step;
    Vec last = {};
    if (rest != 0) last = n > kLanes ? Load(y + n - kLanes) : LoadFirst(y, static_cast<int>(n));
    for (int64_t i = 0; i + kLanes <= n; i += kLanes) {
      const Vec v = f(Load(y + i));
      Store(y + i, v);
      end(v);
    }
    if (rest == 0) continue;
    const Vec v = f(last);
    if (n >= kLanes) {
      Store(y + n - kLanes, v);
      end(v);
    } else {
      StoreFirst(y, v, static_cast<int>(n));
      end(LoadFirst(y, static_cast<int>(n)));  // zeros behind them
    }
  }
  if (kWidens) WidenRange(range, least, most);
}

template <typename F>
TW_INLINE void MapRows(const FloatRows& rows, KeptRange::Lanes* range, F f) {
  if (range != nullptr) {
    MapRows<true>(rows, range, f);
  } else {
    MapRows<false>(rows, range, f);
  }
}

void TanhOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Tanh(v); });
}

void ExpOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Exp(v); });
}

void LogOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Log(v); });
}

void SqrtOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Sqrt(v); });
}

void RsqrtOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return 1.0f / Sqrt(v); });
}

void SquareOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return v * v; });
}

void AbsOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Abs(v); });
}

void NegOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return -v; });
}

void SinOf(const float* x, float* y, int64_t n, float) {
  MapScalars(x, y, n, [](float v) { return __builtin_sinf(v); });
}

void CosOf(const float* x, float* y, int64_t n, float) {
  MapScalars(x, y, n, [](float v) { return __builtin_cosf(v); });
}

void CbrtOf(const float* x, float* y, int64_t n, float) {
  MapScalars(x, y, n, [](float v) { return __builtin_cbrtf(v); });
}

void FloorOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Floor(v); });
}

void CeilOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Ceil(v); });
}

void RoundOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) { return Rint(v); });
}

void SignOf(const float* x, float* y, int64_t n, float) {
  Map(x, y, n, [](Vec v) {
    const Vec nonzero = WithSign(Splat(1.0f), v);
    return v == 0.0f ? Vec{} : (v == v ? nonzero : v);
  });
}

}  // namespace

void EndRows(UnaryFn fn, const FloatRows& rows, KeptRange::Lanes* range) {
  if (!kFusesFunctions) return;
  if (fn == UnaryFn::kSwish) return MapRows(rows, range, [](Vec v) { return Swish(v); });
  if (fn == UnaryFn::kLogistic) return MapRows(rows, range, [](Vec v) { return Logistic(v); });
  MapRows(rows, range, [](Vec v) { return HardSwish(v); });
}

#define TW_ROW(name, number, formula) name##Of,
const UnaryFunction kUnaryFunctions[kNumUnaryFns] = {TW_UNARY_FUNCTIONS(TW_ROW)};
#undef TW_ROW

}  // namespace TW_ISA
}  // namespace topwork
