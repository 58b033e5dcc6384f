// The packed GEMM in float32: A broadcast element by element, W streamed from its panel
// (gemm_tiles.h).
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

int64_t PackedSize(int64_t n, int64_t k) { return Vectors(n) * kLanes * k; }

// Column n of W (zeros beyond the last) into every `width`-th element from `out`.
void PackColumn(const GemmWeights& w, int64_t n, int64_t width, float* out) {
  if (n >= w.n) {
    for (int64_t k = 0; k < w.k; ++k) out[k * width] = 0.0f;
    return;
  }
  for (int64_t i = 0; i < w.depth[0]; ++i) {
    for (int64_t j = 0; j < w.depth[1]; ++j) {
      const float* in = w.data + n * w.stride_n + i * w.stride_k[0] + j * w.stride_k[1];
      for (int64_t l = 0; l < w.depth[2]; ++l, out += width) *out = in[l * w.stride_k[2]];
    }
  }
}

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    float* out = packed + n0 * w.k;
    if (w.stride_n == 1 && w.depth[2] == w.k) {  // whole rows of a [k x n] matrix
      const int inside = static_cast<int>(w.n - n0 < width ? w.n - n0 : width);
      for (int64_t k = 0; k < w.k; ++k) {
        const float* in = w.data + k * w.stride_k[2] + n0;
        for (int j = 0; j < inside; ++j) out[k * width + j] = in[j];
        for (int j = inside; j < width; ++j) out[k * width + j] = 0.0f;
      }
      continue;
    }
    for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, out + j);
  }
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
                                  kRows,
                                  kMaxVectors* kLanes,
                                  NPanels,
                                  FirstColumn,
                                  PackedSize,
                                  Pack,
                                  Run};

}  // namespace TW_ISA
}  // namespace topwork
