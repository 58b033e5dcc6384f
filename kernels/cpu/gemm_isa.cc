// The packed GEMM in float32: A broadcast element by element, W streamed from its panel
// (gemm_tiles.h).
#include "kernels/cpu/gemm_pack.h"
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

int64_t PackedSize(int64_t n, int64_t k) { return Vectors(n) * kLanes * k; }

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  PackPanels(w, w.k, panel_begin, panel_end, packed);
}

// acc += A * W over `depth` values of every row; returns where W goes on.
template <int kM, int kN>
TW_INLINE const float* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const float* w,
                                  int64_t depth) {
  int64_t k = 0;
#if defined(__aarch64__)
  for (; k + kLanes <= depth; k += kLanes) {
    Vec x[kM];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) x[m] = Load(a[m] + k);
#pragma GCC unroll 4
    for (int i = 0; i < kLanes; ++i) {
      Vec wv[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) wv[j] = Load(w + j * kLanes);
      w += kN * kLanes;
#pragma GCC unroll 16
      for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) acc[m][j] += wv[j] * x[m][i];
      }
    }
  }
#endif
  for (; k < depth; ++k) {
    Vec wv[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) wv[j] = Load(w + j * kLanes);
    w += kN * kLanes;
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) {
      const float x = a[m][k];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) acc[m][j] += wv[j] * x;
    }
  }
  return w;
}

void Run(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  RunTiles(task);
}

}  // namespace

extern const GemmKernels kGemmKernels;
const GemmKernels kGemmKernels = {"gemm f32 " TW_STRING(TW_ISA),
                                  nullptr,
                                  1,
                                  kRows,
                                  kMaxVectors* kLanes,
                                  NPanels,
                                  PackedSize,
                                  Pack,
                                  Run};

}  // namespace TW_ISA
}  // namespace topwork
