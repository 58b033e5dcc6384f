// Register tiles of the block-sparse GEMM: a few rows x 16 columns. Each row has enough
// accumulators, filled in turn, to hide the latency of a multiply-add.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kColumns = kSparseColumns, kVectors = kColumns / kLanes;
// kRows * kChains * kVectors accumulators.
#if defined(__AVX512F__)
constexpr int kRows = 6, kChains = 4;
#elif defined(__AVX__)
constexpr int kRows = 3, kChains = 2;
#elif defined(__aarch64__)
constexpr int kRows = 5, kChains = 1;
#else
constexpr int kRows = 2, kChains = 1;
#endif

// Rows [row, row + kM) of the panel that begins at column n0.
template <int kM>
void Tile(const GemmTask& t, const int32_t* depth, const float* w, int64_t n_entries, int64_t row,
          int64_t n0) {
  const float* a = t.a + row * t.lda;
  Vec acc[kM][kChains][kVectors];
  for (auto& chains : acc) {
    for (auto& vectors : chains) {
      for (Vec& v : vectors) v = Vec{};
    }
  }
  const auto add = [&](int64_t e, int chain) {
    Vec wv[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) wv[j] = Load(w + e * kColumns + j * kLanes);
    const float* at = a + depth[e];
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) acc[m][chain][j] += wv[j] * at[m * t.lda];
    }
  };
  int64_t e = 0;
  for (; e + kChains <= n_entries; e += kChains) {
#pragma GCC unroll 4
    for (int chain = 0; chain < kChains; ++chain) add(e + chain, chain);
  }
#pragma GCC unroll 4
  for (int chain = 0; chain < kChains - 1; ++chain) {
    if (e + chain < n_entries) add(e + chain, chain);
  }
  const Vec lo = Vec{} + t.lo, hi = Vec{} + t.hi;
  for (int j = 0; j < kVectors; ++j) {
    const int64_t n = n0 + j * kLanes;
    if (n >= t.n) break;
    const int count = t.n - n < kLanes ? static_cast<int>(t.n - n) : kLanes;
    const Vec bias = t.bias != nullptr ? LoadFirst(t.bias + n, count) : Vec{};
    for (int m = 0; m < kM; ++m) {
      Vec v = acc[m][0][j];
      for (int chain = 1; chain < kChains; ++chain) v += acc[m][chain][j];
      v += bias;
      if (t.residual != nullptr) v += LoadFirst(t.residual + (row + m) * t.ldr + n, count);
      StoreFirst(t.c + (row + m) * t.ldc + n, Clamp(v, lo, hi), count);
    }
  }
}

using TileFunction = void (*)(const GemmTask&, const int32_t*, const float*, int64_t, int64_t,
                              int64_t);
const TileFunction kTiles[kRows] = {
#if defined(__AVX512F__)
    Tile<1>, Tile<2>, Tile<3>, Tile<4>,
    Tile<5>, Tile<6>
#elif defined(__AVX__)
    Tile<1>, Tile<2>, Tile<3>
#elif defined(__aarch64__)
    Tile<1>, Tile<2>, Tile<3>, Tile<4>, Tile<5>
#else
    Tile<1>, Tile<2>
#endif
};

void Run(const GemmTask& t, const SparseWeights& weights) {
  if (t.m <= 0) return;
  const int64_t n_tiles = (t.m + kRows - 1) / kRows;
  const int64_t each = t.m / n_tiles, taller = t.m % n_tiles;
  for (int64_t p = t.panel_begin; p < t.panel_end; ++p) {
    const int64_t first = weights.begin[p], n_entries = weights.begin[p + 1] - first;
    int64_t row = 0;
    for (int64_t i = 0; i < n_tiles; ++i) {
      const int64_t rows = each + (i < taller ? 1 : 0);
      kTiles[rows - 1](t, weights.depth + first, weights.values + first * kColumns, n_entries, row,
                       p * kColumns);
      row += rows;
    }
  }
}

}  // namespace

extern const SparseGemmKernels kSparseGemmKernels;
const SparseGemmKernels kSparseGemmKernels = {kRows, Run};

}  // namespace TW_ISA
}  // namespace topwork
