// Winograd's transforms (winograd.h), one vector of channels of one tile at a time: down the
// columns of the tile into a buffer, then along its rows.
//
// Tiles that reach beyond the image, and channels that fill no vector, are copied to a tile of
// their own first, with zeros.
#include "kernels/cpu/simd.h"
#include "kernels/cpu/winograd.h"

namespace topwork {
namespace TW_ISA {
namespace {

// LoadFirst and StoreFirst; out of line, their short copies would be repeated in every path.
__attribute__((noinline)) Vec LoadShort(const float* p, int count) { return LoadFirst(p, count); }
__attribute__((noinline)) void StoreShort(float* p, Vec v, int count) { StoreFirst(p, v, count); }
TW_INLINE Vec LoadSome(const float* p, int count) {
  return count == kLanes ? Load(p) : LoadShort(p, count);
}
TW_INLINE void StoreSome(float* p, Vec v, int count) {
  if (count == kLanes) {
    Store(p, v);
  } else {
    StoreShort(p, v, count);
  }
}

// v = B^T d, 2x2 and 4x4.
TW_INLINE void InputPoints(const Vec (&d)[4], Vec (&v)[4]) {
  v[0] = d[0] - d[2];
  v[1] = d[1] + d[2];
  v[2] = d[2] - d[1];
  v[3] = d[3] - d[1];
}
TW_INLINE void InputPoints(const Vec (&d)[6], Vec (&v)[6]) {
  const Vec even_a = d[4] - 2.25f * d[2], odd_a = d[3] - 2.25f * d[1];
  const Vec even_b = d[4] - 0.5625f * d[2], odd_b = d[3] - 0.5625f * d[1];
  v[0] = d[4] - 2.8125f * d[2] + 1.265625f * d[0];
  v[1] = even_a + 0.75f * odd_a;
  v[2] = even_a - 0.75f * odd_a;
  v[3] = even_b + 1.5f * odd_b;
  v[4] = even_b - 1.5f * odd_b;
  v[5] = d[5] - 2.8125f * d[3] + 1.265625f * d[1];
}

// y = A^T m.
TW_INLINE void OutputPoints(const Vec (&m)[4], Vec (&y)[2]) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] + m[3];
}
TW_INLINE void OutputPoints(const Vec (&m)[6], Vec (&y)[4]) {
  const Vec even_a = m[1] + m[2], odd_a = m[1] - m[2];
  const Vec even_b = m[3] + m[4], odd_b = m[3] - m[4];
  y[0] = m[0] + even_a + even_b;
  y[1] = 0.75f * odd_a + 1.5f * odd_b;
  y[2] = 0.5625f * even_a + 2.25f * even_b;
  y[3] = m[5] + 0.421875f * odd_a + 3.375f * odd_b;
}

// Where a tile's outputs begin.
struct Place {
  int64_t image, y, x;
};
TW_INLINE Place PlaceOf(const WinogradShape& s, int64_t index) {
  const int64_t row = index / s.tiles_w;
  return {row / s.tiles_h, row % s.tiles_h * s.tile_h, index % s.tiles_w * s.tile_w};
}

TW_INLINE int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
TW_INLINE int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }

// B^T d B of a tile whose rows and pixels lie so many values apart; `channels` fill vectors.
template <int kSide>
void TransformInput(const float* d, int64_t row_stride, int64_t pixel_stride, int64_t channels,
                    float* v, int64_t v_stride) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    Vec columns[kSide][kSide];
#pragma GCC unroll 1
    for (int x = 0; x < kSide; ++x) {
      Vec column[kSide];
#pragma GCC unroll 6
      for (int y = 0; y < kSide; ++y) column[y] = Load(d + y * row_stride + x * pixel_stride + c);
      InputPoints(column, columns[x]);
    }
#pragma GCC unroll 1
    for (int y = 0; y < kSide; ++y) {
      Vec row[kSide], points[kSide];
#pragma GCC unroll 6
      for (int x = 0; x < kSide; ++x) row[x] = columns[x][y];
      InputPoints(row, points);
      float* to = v + y * kSide * v_stride + c;
#pragma GCC unroll 6
      for (int x = 0; x < kSide; ++x) Store(to + x * v_stride, points[x]);
    }
  }
}

using TransformTile = void (*)(const float* d, int64_t row_stride, int64_t pixel_stride,
                               int64_t channels, float* v, int64_t v_stride);

// The same from channel `first` on, by way of a copy with zeros around the image.
void TransformCopy(const WinogradShape& s, int side, TransformTile transform, const float* image,
                   int64_t y0, int64_t x0, int64_t first, float* v, int64_t v_stride) {
  const int64_t y_begin = Most(0, -y0), y_end = Least(side, s.in_h - y0);
  const int64_t x_begin = Most(0, -x0), x_end = Least(side, s.in_w - x0);
  Vec d[6 * 6];
  for (int i = 0; i < side * side; ++i) d[i] = Vec{};
  float* const copy = reinterpret_cast<float*>(d);
  for (int64_t c = first; c < s.in_c; c += kLanes) {
    const int count = static_cast<int>(Least(kLanes, s.in_c - c));
    for (int64_t y = y_begin; y < y_end; ++y) {
      for (int64_t x = x_begin; x < x_end; ++x) {
        const float* pixel = image + ((y0 + y) * s.in_w + x0 + x) * s.in_c + c;
        Store(copy + (y * side + x) * kLanes, LoadSome(pixel, count));
      }
    }
    transform(copy, side * kLanes, kLanes, kLanes, v + c, v_stride);
  }
}

void TransformTiles(const WinogradShape& s, const WinogradInput& t, int side,
                    TransformTile transform) {
  for (int64_t i = 0; i < t.n; ++i) {
    const Place place = PlaceOf(s, t.first + i);
    const int64_t y0 = place.y - s.pad_top, x0 = place.x - s.pad_left;
    const float* image = t.input + place.image * s.in_h * s.in_w * s.in_c;
    float* v = t.v + i * s.in_wide;
    const bool inside = y0 >= 0 && x0 >= 0 && y0 + side <= s.in_h && x0 + side <= s.in_w;
    const int64_t whole = inside ? s.in_c / kLanes * kLanes : 0;
    if (inside) {
      transform(image + (y0 * s.in_w + x0) * s.in_c, s.in_w * s.in_c, s.in_c, whole, v, t.v_stride);
    }
    if (whole < s.in_c) {
      TransformCopy(s, side, transform, image, y0, x0, whole, v, t.v_stride);
    }
  }
}

template <int kSide>
void Input(const WinogradShape& s, const WinogradInput& t) {
  TransformTiles(s, t, kSide, TransformInput<kSide>);
}

// Ends n outputs that lie `step` values apart, of the first `count` channels of a vector from c on: bias,
// residual and clamp.
TW_INLINE void EndPoints(const WinogradOutput& t, int64_t c, int count, const Vec* points,
                         int64_t n, int64_t at, int64_t step) {
  const Vec bias = t.bias != nullptr ? LoadSome(t.bias + c, count) : Vec{};
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int64_t i = 0; i < n; ++i, at += step) {
    Vec sum = points[i] + bias;
    if (t.residual != nullptr) sum += LoadSome(t.residual + at, count);
    StoreSome(t.output + at, Clamp(sum, lo, hi), count);
  }
}

// A^T m A of the first `count` channels of a vector, as far as it lies inside the image.
template <int kSide>
TW_INLINE void TransformOutput(const WinogradShape& s, const WinogradOutput& t, const Place& place,
                               const float* m, int64_t c, int count) {
  constexpr int kTile = kSide - 2;
  Vec rows[kTile][kSide];
#pragma GCC unroll 1
  for (int x = 0; x < kSide; ++x) {
    Vec column[kSide], points[kTile];
#pragma GCC unroll 6
    for (int y = 0; y < kSide; ++y) column[y] = Load(m + (y * kSide + x) * t.m_stride + c);
    OutputPoints(column, points);
#pragma GCC unroll 4
    for (int y = 0; y < kTile; ++y) rows[y][x] = points[y];
  }
  const int64_t y_end = Least(kTile, s.out_h - place.y), x_end = Least(kTile, s.out_w - place.x);
  for (int64_t y = 0; y < y_end; ++y) {
    Vec points[kTile];
    OutputPoints(rows[y], points);
    const int64_t row = (place.image * s.out_h + place.y + y) * s.out_w;
    EndPoints(t, c, count, points, x_end, (row + place.x) * s.out_c + c, s.out_c);
  }
}

template <int kSide>
void Output(const WinogradShape& s, const WinogradOutput& t) {
  const int64_t end = Least(t.channel_end, s.out_c);
  for (int64_t i = 0; i < t.n; ++i) {
    const Place place = PlaceOf(s, t.first + i);
    for (int64_t c = t.channel_begin; c < end; c += kLanes) {
      const int count = static_cast<int>(Least(kLanes, end - c));
      TransformOutput<kSide>(s, t, place, t.m + i * s.out_wide, c, count);
    }
  }
}

// Tiles of one row or column: 6 inputs, 4 outputs.
constexpr int kLine = 6;

// B^T d; inputs beyond the image are zero.
void LineInput(const WinogradShape& s, const WinogradInput& t) {
  const bool down = s.tile_h > 1;
  const int64_t length = down ? s.in_h : s.in_w, width = down ? s.in_w : s.in_h;
  const int64_t step = down ? s.in_w * s.in_c : s.in_c;
  const Vec zeros = Vec{};
  for (int64_t i = 0; i < t.n; ++i) {
    const Place place = PlaceOf(s, t.first + i);
    const int64_t y0 = place.y - s.pad_top, x0 = place.x - s.pad_left;
    const int64_t along = down ? y0 : x0, across = down ? x0 : y0;
    const bool misses = across < 0 || across >= width;
    const int64_t first = ((place.image * s.in_h + y0) * s.in_w + x0) * s.in_c;
    const float* from[kLine];
    int64_t moves[kLine];  // 1, or 0 where it reads zeros
    for (int k = 0; k < kLine; ++k) {
      moves[k] = !misses && along + k >= 0 && along + k < length;
      from[k] = moves[k] ? t.input + (first + k * step) : reinterpret_cast<const float*>(&zeros);
    }
    float* const v = t.v + i * s.in_wide;
    for (int64_t c = 0; c < s.in_c; c += kLanes) {
      const int count = static_cast<int>(Least(kLanes, s.in_c - c));
      Vec d[kLine], points[kLine];
#pragma GCC unroll 6
      for (int k = 0; k < kLine; ++k) d[k] = LoadSome(from[k] + c * moves[k], count);
      InputPoints(d, points);
#pragma GCC unroll 6
      for (int k = 0; k < kLine; ++k) Store(v + k * t.v_stride + c, points[k]);
    }
  }
}

// A^T m.
void LineOutput(const WinogradShape& s, const WinogradOutput& t) {
  const bool down = s.tile_h > 1;
  const int64_t step = down ? s.out_w * s.out_c : s.out_c, end = Least(t.channel_end, s.out_c);
  for (int64_t i = 0; i < t.n; ++i) {
    const Place place = PlaceOf(s, t.first + i);
    const int64_t n = Least(kLine - 2, down ? s.out_h - place.y : s.out_w - place.x);
    const int64_t at = ((place.image * s.out_h + place.y) * s.out_w + place.x) * s.out_c;
    const float* m = t.m + i * s.out_wide;
    for (int64_t c = t.channel_begin; c < end; c += kLanes) {
      Vec column[kLine], points[kLine - 2];
#pragma GCC unroll 6
      for (int k = 0; k < kLine; ++k) column[k] = Load(m + k * t.m_stride + c);
      OutputPoints(column, points);
      EndPoints(t, c, static_cast<int>(Least(kLanes, end - c)), points, n, at + c, step);
    }
  }
}

void Filter(const float* factors, int n_taps, const float* taps, int64_t n, float* to) {
  for (int64_t c = 0; c < n; c += kLanes) {
    const int count = static_cast<int>(Least(kLanes, n - c));
    Vec sum = Vec{};
    for (int t = 0; t < n_taps; ++t) sum += factors[t] * LoadSome(taps + t * n + c, count);
    StoreSome(to + c, sum, count);
  }
}

}  // namespace

extern const WinogradKernels kWinogradKernels;
const WinogradKernels kWinogradKernels = {
    kLanes, {Input<4>, Output<4>}, {Input<6>, Output<6>}, {LineInput, LineOutput}, Filter};

}  // namespace TW_ISA
}  // namespace topwork
