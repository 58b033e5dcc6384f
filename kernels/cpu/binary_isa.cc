// The float32 loops of binary operators, one instruction set's copy (see BinaryTile in
// elementwise.h).
//
// Rows shorter than a few vectors that are combined with one repeated row (a [H*W, 3] image and 3
// means) are handled as longer rows: the repeated row is written out several times once.
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vector_math.h"

namespace topwork {
namespace TW_ISA {

extern const BinaryFunction kBinaryFunctions[kNumBinaryFns];

namespace {

template <typename F>
TW_INLINE void Rows(const BinaryTile& t, F f) {
  const Vec lo = Splat(t.lo), hi = Splat(t.hi);
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* a = t.a + r * t.a_row;
    const float* b = t.b + r * t.b_row;
    float* y = t.y + r * t.n;
    const Vec a0 = Splat(*a), b0 = Splat(*b);
    int64_t i = 0;
    for (; i + kLanes <= t.n; i += kLanes) {
      const Vec u = t.a_step != 0 ? Load(a + i) : a0;
      const Vec v = t.b_step != 0 ? Load(b + i) : b0;
      Store(y + i, Clamp(f(u, v), lo, hi));
    }
    // One by one: cheaper than gathering a few lanes in memory.
    for (; i < t.n; ++i) {
      y[i] = Clamp(f(Splat(a[i * t.a_step]), Splat(b[i * t.b_step])), lo, hi)[0];
    }
  }
}

constexpr int kShort = 4 * kLanes;  // rows below this are lengthened
constexpr int kLengthened = 256;    // floats of a repeated row written out

// Fills `pattern` with as many whole copies of `row` as fit and returns their number.
int64_t Repeat(const float* row, int64_t n, float* pattern) {
  const int64_t copies = kLengthened / n;
  for (int64_t k = 0; k < copies; ++k) {
    for (int64_t i = 0; i < n; ++i) pattern[k * n + i] = row[i];
  }
  return copies;
}

template <typename F>
TW_INLINE void Tile(const BinaryTile& tile, F f) {
  const bool a_dense = tile.a_step == 1 && tile.a_row == tile.n;
  const bool b_dense = tile.b_step == 1 && tile.b_row == tile.n;
  const bool a_repeats = tile.a_step == 1 && tile.a_row == 0;
  const bool b_repeats = tile.b_step == 1 && tile.b_row == 0;
  BinaryTile parts[2] = {tile, tile};
  int n_parts = 1;
  float pattern[kLengthened];
  if (tile.n < kShort && tile.rows >= 8 && ((a_dense && b_repeats) || (a_repeats && b_dense))) {
    const int64_t copies = Repeat(a_repeats ? tile.a : tile.b, tile.n, pattern);
    const int64_t whole = tile.rows / copies, left = tile.rows % copies;
    for (BinaryTile& part : parts) {
      (a_repeats ? part.a : part.b) = pattern;
      part.n = tile.n * copies;
      (a_repeats ? part.b_row : part.a_row) = part.n;
      part.rows = whole;
    }
    n_parts = left > 0 ? 2 : 1;
    parts[1].y += whole * parts[1].n;
    (a_repeats ? parts[1].b : parts[1].a) += whole * parts[1].n;
    parts[1].n = left * tile.n;
    parts[1].rows = 1;
  }
  for (int k = 0; k < n_parts; ++k) Rows(parts[k], f);
}

// For functions without a vector form, through libm.
template <typename F>
TW_INLINE void ScalarRows(const BinaryTile& t, F f) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* a = t.a + r * t.a_row;
    const float* b = t.b + r * t.b_row;
    float* y = t.y + r * t.n;
    for (int64_t i = 0; i < t.n; ++i) {
      float v = f(a[i * t.a_step], b[i * t.b_step]);
      v = t.lo > v ? t.lo : v;
      y[i] = t.hi < v ? t.hi : v;
    }
  }
}

void AddOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a + b; });
}

void SubOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a - b; });
}

void MulOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a * b; });
}

void DivOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a / b; });
}

void MaximumOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a > b ? a : b; });
}

void MinimumOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a < b ? a : b; });
}

void SquaredDifferenceOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return (a - b) * (a - b); });
}

void PowOf(const BinaryTile& t) {
  if (t.b_step == 0 && t.b_row == 0 && *t.b == 2.0f) {
    Rows(t, [](Vec a, Vec) { return a * a; });
  } else {
    ScalarRows(t, [](float a, float b) { return __builtin_powf(a, b); });
  }
}

void FloorDivOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return Floor(a / b); });
}

void FloorModOf(const BinaryTile& t) {
  ScalarRows(t, [](float a, float b) {
    const float m = __builtin_fmodf(a, b);
    return m != 0.0f && (m < 0.0f) != (b < 0.0f) ? m + b : m;
  });
}

void Atan2Of(const BinaryTile& t) {
  ScalarRows(t, [](float a, float b) { return __builtin_atan2f(a, b); });
}

void PreluOf(const BinaryTile& t) {
  Tile(t, [](Vec a, Vec b) { return a >= 0.0f ? a : a * b; });
}

}  // namespace

#define TW_ROW(name, number) name##Of,
const BinaryFunction kBinaryFunctions[kNumBinaryFns] = {TW_BINARY_FUNCTIONS(TW_ROW)};
#undef TW_ROW

}  // namespace TW_ISA
}  // namespace topwork
