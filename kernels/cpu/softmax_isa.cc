// Softmax of short rows, one instruction set's copy (see elementwise.h).
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/simd_int.h"
#include "kernels/cpu/vector_math.h"

namespace topwork {
namespace TW_ISA {

void SoftmaxOfShortRows(const float* in, float* out, int64_t rows, int64_t n, float beta);

namespace {

constexpr int kRowVectors = 4;  // of a row that is kept in registers

TW_INLINE float LargestLane(Vec v) {
  float lanes[kLanes];
  Store(lanes, v);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) {
      lanes[k] = lanes[k + half] > lanes[k] ? lanes[k + half] : lanes[k];
    }
  }
  return lanes[0];
}

TW_INLINE float SumOfLanes(Vec v) {
  float lanes[kLanes];
  Store(lanes, v);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

// A row of kN vectors, of which the last has `rest` values.
template <int kN>
TW_INLINE void SoftmaxRow(const float* in, float* out, int rest, float beta) {
  IVec lane = {};
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  const IVec is_inside = lane < Broadcast(rest);
  const Vec lowest = Splat(-__builtin_inff());
  Vec v[kN];
#pragma GCC unroll 4
  for (int i = 0; i < kN - 1; ++i) v[i] = Load(in + i * kLanes);
  v[kN - 1] = LoadFirst(in + (kN - 1) * kLanes, rest);
  v[kN - 1] = is_inside ? v[kN - 1] : lowest;
  Vec most = lowest;
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) most = v[i] > most ? v[i] : most;
  const float max = LargestLane(most);
  Vec sum = {};
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i) {
    v[i] = Exp((v[i] - max) * beta);
    if (i == kN - 1) v[i] = is_inside ? v[i] : Vec{};
    sum += v[i];
  }
  const Vec total = Splat(SumOfLanes(sum));
#pragma GCC unroll 4
  for (int i = 0; i < kN - 1; ++i) Store(out + i * kLanes, v[i] / total);
  StoreFirst(out + (kN - 1) * kLanes, v[kN - 1] / total, rest);
}

template <int kN>
TW_INLINE void SoftmaxRows(const float* in, float* out, int64_t rows, int64_t n, float beta) {
  const int rest = static_cast<int>(n) - (kN - 1) * kLanes;
  for (int64_t r = 0; r < rows; ++r) SoftmaxRow<kN>(in + r * n, out + r * n, rest, beta);
}

// Up to kLanes rows of n < kLanes values, a row a lane.
TW_INLINE void SoftmaxOfLanes(const float* in, float* out, int64_t rows, int64_t n, float beta) {
  float turned[kLanes * kLanes] = {};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) turned[i * kLanes + r] = in[r * n + i];
  }
  Vec max = Splat(-__builtin_inff());
  for (int64_t i = 0; i < n; ++i) {
    const Vec v = Load(turned + i * kLanes);
    max = v > max ? v : max;
  }
  Vec sum = {};
  for (int64_t i = 0; i < n; ++i) {
    const Vec v = Exp((Load(turned + i * kLanes) - max) * beta);
    Store(turned + i * kLanes, v);
    sum += v;
  }
  for (int64_t i = 0; i < n; ++i) Store(turned + i * kLanes, Load(turned + i * kLanes) / sum);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) out[r * n + i] = turned[i * kLanes + r];
  }
}

}  // namespace

void SoftmaxOfShortRows(const float* in, float* out, int64_t rows, int64_t n, float beta) {
  if (n < kLanes) {
    for (int64_t r = 0; r < rows; r += kLanes) {
      SoftmaxOfLanes(in + r * n, out + r * n, rows - r < kLanes ? rows - r : kLanes, n, beta);
    }
  } else if (n <= kLanes) {
    SoftmaxRows<1>(in, out, rows, n, beta);
  } else if (n <= 2 * kLanes) {
    SoftmaxRows<2>(in, out, rows, n, beta);
  } else if (n <= 3 * kLanes) {
    SoftmaxRows<3>(in, out, rows, n, beta);
  } else {
    SoftmaxRows<kRowVectors>(in, out, rows, n, beta);
  }
}

}  // namespace TW_ISA
}  // namespace topwork
