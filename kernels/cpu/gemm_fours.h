// The packed GEMM in float32 for processors with SSE2 alone, by vectors of neighbouring depths. For
// gemm_isa.cc only.
//
// Without AVX a broadcast and the copy of a factor cost as much as a product. Here a vector holds four
// depths of a row of A, as it lies there, or of a column of W, and nothing is broadcast: an element is
// four sums, of the depths 0, 4, 8 ..., of 1, 5, 9 ... and so on, (first + third) + (second + fourth), to
// which the depths behind the last whole four are added one by one.
//
// Four columns of W lie together: of each four depths those of every column, then the depths left over,
// as vectors of columns. A panel (panels.h) is two times four, so that rows of A are read half as often
// from further away.
#ifndef TOPWORK_KERNELS_CPU_GEMM_FOURS_H_
#define TOPWORK_KERNELS_CPU_GEMM_FOURS_H_

#include "kernels/cpu/gemm_tiles.h"
#include "kernels/cpu/simd_transpose.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr int kFour = kLanes;
constexpr int kFourRows = 3;  // with four columns: twelve vectors of sums
static_assert(kFour == 4, "vectors of SSE2");

TW_INLINE int ColumnsAt(int64_t n, int64_t n0) {
  return n - n0 < kFour ? static_cast<int>(n - n0) : kFour;
}

// Lane j is the sum of v[j].
TW_INLINE Vec SumsOf(const Vec (&v)[kFour]) {
  const Vec low = Zip<0>(v[0], v[1]) + Zip<2>(v[0], v[1]);
  const Vec high = Zip<0>(v[2], v[3]) + Zip<2>(v[2], v[3]);
  return __builtin_shufflevector(low, high, 0, 1, 4, 5) +
         __builtin_shufflevector(low, high, 2, 3, 6, 7);
}

// acc += A * W over four depths.
template <int kM>
TW_INLINE void AddFour(Vec (&acc)[kM][kFour], const float* const (&a)[kM], int64_t k,
                       const float* w) {
  const Vec* columns = reinterpret_cast<const Vec*>(w);
  const Vec first = columns[0];
#pragma GCC unroll 4
  for (int m = 0; m < kM; ++m) {
    const Vec x = Load(a[m] + k);
    acc[m][0] += x * first;
    acc[m][1] += x * columns[1];
    acc[m][2] += x * columns[2];
    acc[m][3] += x * columns[3];
#if defined(__clang__)  // it would keep all columns, for which there are no registers
    asm volatile("" ::: "memory");
#endif
  }
}

// What the tiles of a task have in common. (A copy, which no store can change.)
struct FourTask {
  int64_t lda, ldc, runs, run_stride;
  int64_t whole, run_k;  // depths of a run in whole fours, and all
  int64_t run_skip;      // values of W
  Vec lo, hi;
};

// kM rows of A by four columns, whose part of W from the first depth on is w.
template <int kM>
TW_INLINE void SumFours(const FourTask& t, const float* rows, const float* w, Vec (&v)[kM]) {
  // A single row waits for W, which then comes from memory.
  constexpr int64_t kAhead = (kM == 1 ? 128 : 16) * kFour * kFour;
  const float* a[kM];
  Vec acc[kM][kFour];
#pragma GCC unroll 4
  for (int m = 0; m < kM; ++m) {
    a[m] = rows + m * t.lda;
#pragma GCC unroll 4
    for (int j = 0; j < kFour; ++j) acc[m][j] = Vec{};
  }
  for (int64_t run = 0; run < t.runs; ++run) {
    for (int64_t k = 0; k < t.whole; k += kFour, w += kFour * kFour) {
      AddFour(acc, a, k, w);
      __builtin_prefetch(w + kAhead);
    }
    w += t.run_skip;
#pragma GCC unroll 4
    for (int m = 0; m < kM; ++m) a[m] += t.run_stride;
  }
#pragma GCC unroll 4
  for (int m = 0; m < kM; ++m) v[m] = SumsOf(acc[m]);
#pragma GCC unroll 1
  for (int64_t k = t.whole; k < t.run_k; ++k, w += kFour) {  // of the only run
#pragma GCC unroll 4
    for (int m = 0; m < kM; ++m) v[m] += Load(w) * rows[m * t.lda + k];
  }
}

// n_tiles tiles of kM rows from row `row` on by the columns [n0, n0 + columns), all inside C.
template <int kM>
void FourTiles(const GemmTask& task, int64_t row, int64_t n_tiles, int64_t n0, int64_t columns) {
  const FourTask t = {task.lda,
                      task.ldc,
                      task.runs,
                      task.run_stride,
                      task.run_k / kFour * kFour,
                      task.run_k,
                      task.run_skip * kFour,
                      Vec{} + task.lo,
                      Vec{} + task.hi};
  const float* a = task.a + row * t.lda;
  const float* const first_w = task.packed + n0 * task.k + task.first_k * kFour;
  const float* const bias = task.bias != nullptr ? task.bias + n0 : nullptr;
  const float* residual = task.residual != nullptr ? task.residual + row * task.ldr + n0 : nullptr;
  float* out = task.c + row * t.ldc + n0;
  const int64_t next_w = kFour * task.k, ldr = task.ldr;
  for (; n_tiles > 0; --n_tiles, a += kM * t.lda, out += kM * t.ldc) {
    const float* w = first_w;
    for (int64_t n = 0; n < columns; n += kFour, w += next_w) {
      Vec v[kM];
      SumFours(t, a, w, v);
      if (bias != nullptr) {
        const Vec b = Load(bias + n);
#pragma GCC unroll 4
        for (int m = 0; m < kM; ++m) v[m] += b;
      }
      if (residual != nullptr) {
#pragma GCC unroll 4
        for (int m = 0; m < kM; ++m) v[m] += Load(residual + m * ldr + n);
      }
#pragma GCC unroll 4
      for (int m = 0; m < kM; ++m) Store(out + m * t.ldc + n, Clamp(v[m], t.lo, t.hi));
    }
    if (residual != nullptr) residual += kM * ldr;
  }
}

using FourTilesFunction = void (*)(const GemmTask& task, int64_t row, int64_t n_tiles, int64_t n0,
                                   int64_t columns);
constexpr FourTilesFunction kFourTiles[kFourRows] = {FourTiles<1>, FourTiles<2>, FourTiles<3>};

// Tiles of four columns that end inside the vector: the bare products go to a buffer.
void RunLastColumns(const GemmTask& t, int64_t row, int64_t n_tiles, int rows, int64_t n0) {
  alignas(kVectorBytes) float products[kFourRows * kFour];
  GemmTask bare = t;
  bare.packed = t.packed + n0 * t.k;
  bare.bias = bare.residual = nullptr;
  bare.c = products;
  bare.ldc = kFour;
  bare.lo = -__builtin_inff();
  bare.hi = __builtin_inff();
  for (int64_t i = 0; i < n_tiles; ++i, row += rows) {
    bare.a = t.a + row * t.lda;
    kFourTiles[rows - 1](bare, 0, 1, 0, kFour);
    EndRows(t, products, row, rows, n0, 1);
  }
}

// n_tiles tiles of `rows` rows from row `row` on by panel p.
void RunFourPanel(const GemmTask& t, int64_t p, int64_t row, int64_t n_tiles, int rows) {
  const Panel panel = PanelAt(t.n, p);
  const int64_t n0 = panel.vector * kFour, left = (t.n - n0) / kFour * kFour;
  const int64_t width = panel.n_vectors * kFour, whole = left < width ? left : width;
  if (whole > 0) kFourTiles[rows - 1](t, row, n_tiles, n0, whole);
  if (whole < width) RunLastColumns(t, row, n_tiles, rows, n0 + whole);
}

void RunFours(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  const int64_t n_tiles = (task.m + kFourRows - 1) / kFourRows, taller = task.m % n_tiles;
  const int each = static_cast<int>(task.m / n_tiles);
  for (int64_t p = task.panel_begin; p < task.panel_end; ++p) {
    if (taller > 0) RunFourPanel(task, p, 0, taller, each + 1);
    RunFourPanel(task, p, taller * (each + 1), n_tiles - taller, each);
  }
}

// A row by rows of W as they lie in memory.
void RunFourRow(const GemmTask& t) {
  constexpr int64_t kAhead = 64;
  const int64_t whole = t.k / kFour * kFour;
  const int64_t end = FirstColumn(t.n, t.panel_end) < t.n ? FirstColumn(t.n, t.panel_end) : t.n;
  for (int64_t n0 = FirstColumn(t.n, t.panel_begin); n0 < end; n0 += kFour) {
    const float* w[kFour];  // the last one again for columns beyond it
    for (int j = 0; j < kFour; ++j) {
      w[j] = t.packed + (n0 + j < t.n ? n0 + j : t.n - 1) * t.k;
    }
    Vec acc[kFour] = {};
    for (int64_t k = 0; k < whole; k += kFour) {
      const Vec x = Load(t.a + k);
#pragma GCC unroll 4
      for (int j = 0; j < kFour; ++j) {
        __builtin_prefetch(w[j] + k + kAhead);
        acc[j] += x * Load(w[j] + k);
      }
    }
    Vec v = SumsOf(acc);
    for (int64_t k = whole; k < t.k; ++k) v += Vec{w[0][k], w[1][k], w[2][k], w[3][k]} * t.a[k];
    alignas(kVectorBytes) float products[kFour];
    Store(products, v);
    EndRows(t, products, 0, 1, n0, 1);
  }
}

// Where depth k of column j of four lies; `whole` depths are in fours.
TW_INLINE int64_t PlaceInFours(int64_t k, int j, int64_t whole) {
  return k < whole ? k / kFour * kFour * kFour + j * kFour + k % kFour : k * kFour + j;
}

// Column j of four, which begins at `in`; `load(p, count)` loads weights as a vector.
template <class T, class LoadWeights>
void PackFourColumn(const GemmWeights& w, const T* in, int j, LoadWeights load, float* out) {
  const int64_t whole = w.k / kFour * kFour;
  const bool fours = w.stride_k[2] == 1 && (w.depth[2] == w.k || w.depth[2] % kFour == 0);
  int64_t k = 0;
  for (int64_t y = 0; y < w.depth[0]; ++y) {
    for (int64_t x = 0; x < w.depth[1]; ++x) {
      const T* from = in + y * w.stride_k[0] + x * w.stride_k[1];
      int64_t i = 0;
      for (; fours && i + kFour <= w.depth[2]; i += kFour, k += kFour) {
        Store(out + PlaceInFours(k, j, whole), load(from + i, kFour));
      }
      for (; i < w.depth[2]; ++i, ++k) {
        out[PlaceInFours(k, j, whole)] = load(from + i * w.stride_k[2], 1)[0];
      }
    }
  }
}

// Four columns of a [k x n] matrix.
void PackFourRows(const GemmWeights& w, int64_t n0, float* out) {
  const int count = ColumnsAt(w.n, n0);
  const int64_t whole = w.k / kFour * kFour;
  const float* in = w.data + n0;
  int64_t k = 0;
  for (; k < whole; k += kFour, out += kFour * kFour) {
    Vec v[kFour];
#pragma GCC unroll 4
    for (int i = 0; i < kFour; ++i) v[i] = LoadFirst(in + (k + i) * w.stride_k[2], count);
    Transpose(v);
#pragma GCC unroll 4
    for (int i = 0; i < kFour; ++i) Store(out + i * kFour, v[i]);
  }
  for (; k < w.k; ++k, out += kFour) Store(out, LoadFirst(in + k * w.stride_k[2], count));
}

// `load` as for PackFourColumn, of float32 and of float16 weights.
template <class LoadWeights>
void PackFours(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, LoadWeights load,
               float* packed) {
  const int64_t begin = FirstColumn(w.n, panel_begin), end = FirstColumn(w.n, panel_end);
  for (int64_t n0 = begin; n0 < end; n0 += kFour) {
    float* out = packed + n0 * w.k;
    if (w.half == nullptr && w.stride_n == 1 && w.depth[2] == w.k) {
      PackFourRows(w, n0, out);
      continue;
    }
    const int count = ColumnsAt(w.n, n0);
    if (count < kFour) {
      for (int64_t i = 0; i < kFour * w.k; ++i) out[i] = 0.0f;
    }
    for (int j = 0; j < count; ++j) {
      if (w.half != nullptr) {
        PackFourColumn(w, w.half + (n0 + j) * w.stride_n, j, load, out);
      } else {
        PackFourColumn(w, w.data + (n0 + j) * w.stride_n, j, load, out);
      }
    }
  }
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_FOURS_H_
