// Products of float16 numbers for gemm_half_isa.cc, on vectors of eight: a vector of W is one depth
// of eight columns. Behind an odd depth stands a row of zeros.
//
// Products are added in float16, in blocks of at most kBlock depths, whose sums are added to
// float32's. A number or a sum of a block beyond 65504 is infinite.
#ifndef TOPWORK_KERNELS_CPU_GEMM_FLOAT16_H_
#define TOPWORK_KERNELS_CPU_GEMM_FLOAT16_H_

#include <arm_neon.h>

#define TW_COLUMNS 8
#define TW_FLOAT16

#include "kernels/cpu/gemm_pack.h"
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr const char* kHalfType = "float16";
constexpr int kDepths = 2;  // of a word
constexpr int64_t kBlock = 64;

int64_t Words(int64_t k) { return (k + 1) / 2; }

TW_INLINE Vec ToHalves(Vec first, Vec second) {
  const float16x4_t low = vcvt_f16_f32(reinterpret_cast<float32x4_t>(first));
  return reinterpret_cast<Vec>(vcvt_high_f16_f32(low, reinterpret_cast<float32x4_t>(second)));
}

// Rounds n values to Words(n) words, to nearest, ties to even.
void ToWords(const float* in, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kColumns <= n; i += kColumns, out += kLanes) {
    Store(out, ToHalves(Load(in + i), Load(in + i + kLanes)));
  }
  const int left = static_cast<int>(n - i);
  if (left == 0) return;
  const Vec second = left > kLanes ? LoadFirst(in + i + kLanes, left - kLanes) : Vec{};
  const Vec first = LoadFirst(in + i, left < kLanes ? left : kLanes);
  StoreFirst(out, ToHalves(first, second), static_cast<int>(Words(left)));
}

int64_t PackedSize(int64_t n, int64_t k) { return Vectors(n) * kColumns * Words(k); }

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  PackPanels(w, 2 * Words(w.k), panel_begin, panel_end, reinterpret_cast<float16_t*>(packed));
}

// sum + w * x[kLane]. (For vfmaq_laneq_f16 gcc 12 copies the lane into a vector first.)
template <int kLane>
TW_INLINE float16x8_t AddProducts(float16x8_t sum, float16x8_t w, float16x8_t x) {
  asm volatile("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(w), "x"(x), "i"(kLane));
  return sum;
}

template <int kN>
TW_INLINE void LoadRow(const float* w, float16x8_t (&row)[kN]) {
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) row[j] = reinterpret_cast<float16x8_t>(Load(w + j * kLanes));
}

// sum += the depths kLane to kEnd - 1 of x times theirs of W, of which `row` is the first; returns
// where W goes on. The next row is loaded early, for processors that wait for it.
template <int kLane, int kEnd, int kM, int kN>
TW_INLINE const float* AddLanes(float16x8_t (&sum)[kM][kN], const float16x8_t (&x)[kM],
                                const float16x8_t (&row)[kN], const float* w) {
  float16x8_t next[kN];
  w += kN * kLanes;
  if constexpr (kLane + 1 < kEnd) LoadRow(w, next);
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) sum[m][j] = AddProducts<kLane>(sum[m][j], row[j], x[m]);
  }
  if constexpr (kLane + 1 < kEnd) w = AddLanes<kLane + 1, kEnd>(sum, x, next, w);
  return w;
}

// sum += A * W over the words [k, end) of every row; returns where W goes on.
template <int kM, int kN>
TW_INLINE const float* AddBlock(float16x8_t (&sum)[kM][kN], const float* const (&a)[kM],
                                const float* w, int64_t k, int64_t end) {
  float16x8_t x[kM], row[kN];
  for (; k + kLanes <= end; k += kLanes) {
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) x[m] = reinterpret_cast<float16x8_t>(Load(a[m] + k));
    LoadRow(w, row);
    w = AddLanes<0, kColumns>(sum, x, row, w);
  }
#pragma GCC unroll 1
  for (; k < end; ++k) {
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) x[m] = vreinterpretq_f16_f32(vdupq_n_f32(a[m][k]));
    LoadRow(w, row);
    w = AddLanes<0, 2>(sum, x, row, w);
  }
  return w;
}

// kN counts vectors of four float32 sums, two for each vector of columns.
template <class T, int kM, int kN>
TW_INLINE const T* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const T* w,
                              int64_t depth) {
  for (int64_t k = 0; k < depth; k += kBlock / 2) {
    float16x8_t sum[kM][kN / 2];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
      for (int j = 0; j < kN / 2; ++j) sum[m][j] = vdupq_n_f16(0);
    }
    const int64_t end = k + kBlock / 2 < depth ? k + kBlock / 2 : depth;
    w = AddBlock(sum, a, w, k, end);
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
      for (int j = 0; j < kN / 2; ++j) {
        acc[m][2 * j] += reinterpret_cast<Vec>(vcvt_f32_f16(vget_low_f16(sum[m][j])));
        acc[m][2 * j + 1] += reinterpret_cast<Vec>(vcvt_high_f32_f16(sum[m][j]));
      }
    }
  }
  return w;
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_FLOAT16_H_
