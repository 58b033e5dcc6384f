// The packed GEMM in float32: A broadcast element by element, W streamed from its panel
// (gemm_tiles.h), where it lies in float32 or in float16. With SSE2 alone, most products are those of
// gemm_fours.h.
#if defined(__x86_64__) && !defined(__AVX__) && !defined(TW_SHORT_LOOPS) && \
    !defined(__OPTIMIZE_SIZE__)
#define TW_FOURS 1
#include "kernels/cpu/gemm_fours.h"
#endif
#include "kernels/cpu/gemm_pack.h"
#include "kernels/cpu/gemm_tiles.h"
#include "kernels/cpu/simd_int.h"
#include "kernels/cpu/simd_transpose.h"

namespace topwork {
namespace TW_ISA {
namespace {

int64_t PackedSize(int64_t n, int64_t k) { return Vectors(n) * kLanes * k; }

// Whether float32 panels are made of float16 weights at once. (Builds for the least size widen them before.)
#if defined(__OPTIMIZE_SIZE__)
constexpr bool kPacksHalves = false;
#else
constexpr bool kPacksHalves = !kHasHalves;
#endif

TW_INLINE Vec LoadWeights(const float* p, int count) { return LoadFirst(p, count); }
TW_INLINE Vec LoadWeights(const uint16_t* p, int count) {
  if (count >= kLanes) return WidenHalves(p);
  uint16_t first[kLanes] = {};
  for (int i = 0; i < count; ++i) first[i] = p[i];
  return WidenHalves(first);
}

TW_INLINE void StoreWeights(float* p, Vec v) { Store(p, v); }
#if defined(TW_HAVE_HALVES)
TW_INLINE void StoreWeights(uint16_t* p, Vec v) { NarrowToHalves(p, v); }
#endif

// kLanes columns of W from n0 on, whose depths are neighbours; `data` is that of W.
template <class T, class To>
void PackColumns(const GemmWeights& w, const T* data, int64_t n0, int64_t width, To* out) {
  for (int64_t i = 0; i < w.depth[0]; ++i) {
    for (int64_t j = 0; j < w.depth[1]; ++j, out += w.depth[2] * width) {
      const T* in = data + n0 * w.stride_n + i * w.stride_k[0] + j * w.stride_k[1];
      const auto load = [&](int column, int64_t k) {
        return LoadWeights(in + column * w.stride_n + k, kLanes);
      };
      const auto load_some = [&](int column, int64_t k, int n) {
        return n0 + column < w.n ? LoadWeights(in + column * w.stride_n + k, n) : Vec{};
      };
      TransposeWords(w.depth[2], n0 + kLanes <= w.n ? w.depth[2] : 0, load, load_some,
                     [&](int64_t k, Vec v) { StoreWeights(out + k * width, v); });
    }
  }
}

// A panel of float16 weights.
template <class To>
void PackHalves(const GemmWeights& w, int64_t p, To* packed) {
  const Panel panel = PanelAt(w.n, p);
  const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
  for (int64_t j = 0; j < width; j += kLanes) {
    PackColumns(w, w.half, n0 + j, width, packed + n0 * w.k + j);
  }
}

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    float* out = packed + n0 * w.k;
    if (kPacksHalves && w.half != nullptr) {
      PackHalves(w, p, packed);
    } else if (w.stride_n == 1 && w.depth[2] == w.k) {
      PackRows(w, n0, width, out);
    } else if (w.stride_k[2] == 1) {
      for (int64_t j = 0; j < width; j += kLanes) PackColumns(w, w.data, n0 + j, width, out + j);
    } else {
      for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, out + j);
    }
  }
}

// A row of W.
template <int kN>
TW_INLINE void LoadRow(const float* w, Vec (&row)[kN]) {
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) row[j] = Load(w + j * kLanes);
}
template <int kN>
TW_INLINE void LoadRow(const uint16_t* w, Vec (&row)[kN]) {
#if defined(__aarch64__)
  if constexpr (kN == 2) {  // both vectors by one load
    const float16x8_t all = vreinterpretq_f16_u16(vld1q_u16(w));
    row[0] = vcvt_f32_f16(vget_low_f16(all));
    row[1] = vcvt_high_f32_f16(all);
    return;
  }
#endif
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) row[j] = WidenHalves(w + j * kLanes);
}

#if defined(__ARM_NEON)
// acc + w * x[kLane]. (Of what it may order itself, gcc 12 copies sums and moves loads. 32-bit
// processors have no fused multiply-add by a lane.)
template <int kLane>
TW_INLINE Vec AddByLane(Vec acc, Vec w, Vec x) {
#if defined(__aarch64__)
  asm volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(acc) : "w"(w), "w"(x), "i"(kLane));
  return acc;
#else
  const float32x4_t all = reinterpret_cast<float32x4_t>(x);
  return reinterpret_cast<Vec>(
      vmlaq_lane_f32(reinterpret_cast<float32x4_t>(acc), reinterpret_cast<float32x4_t>(w),
                     kLane < 2 ? vget_low_f32(all) : vget_high_f32(all), kLane % 2));
#endif
}

// acc += A * W over one depth: w is its row of W, x[m][kLane] its value of row m.
template <int kLane, int kM, int kN>
TW_INLINE void AddDepth(Vec (&acc)[kM][kN], const Vec (&x)[kM], const Vec (&w)[kN]) {
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = AddByLane<kLane>(acc[m][j], w[j], x[m]);
  }
}

TW_INLINE Vec LoadAt(const float* p, ptrdiff_t bytes) {
  return Load(reinterpret_cast<const float*>(reinterpret_cast<const char*>(p) + bytes));
}
#endif

// Weights come from memory faster than a processor notices by itself that it is going to want them.
template <int kN, class T>
TW_INLINE void FetchAhead([[maybe_unused]] const T* w) {
#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
  constexpr int kDepths = 16;
#pragma GCC unroll 4
  for (int j = 0; j < kN && sizeof(T) == 4; ++j) {  // others are read half as fast
    __builtin_prefetch(w + (kDepths * kN + j) * kLanes);
  }
#endif
}

// acc += A * W over `depth` values of every row; returns where W goes on.
template <class T, int kM, int kN>
TW_INLINE const T* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const T* w,
                              int64_t depth_of_run) {
  const ptrdiff_t depth = static_cast<ptrdiff_t>(depth_of_run);
  ptrdiff_t k = 0;
#if defined(__ARM_NEON)
  k = depth / 4 * 4;
  for (ptrdiff_t at = 0; at < 4 * k; at += kVectorBytes, w += 4 * kN * kLanes) {  // in bytes
    Vec x[kM];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) x[m] = LoadAt(a[m], at);
    Vec wv[4][kN];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) LoadRow(w + i * kN * kLanes, wv[i]);
    AddDepth<0>(acc, x, wv[0]);
    AddDepth<1>(acc, x, wv[1]);
    AddDepth<2>(acc, x, wv[2]);
    AddDepth<3>(acc, x, wv[3]);
  }
#endif
  for (; k < depth; ++k) {
    Vec wv[kN];
    LoadRow(w, wv);
    FetchAhead<kN>(w);
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

#if defined(__aarch64__)
// Rows from which on a panel of float16 weights is widened once for all tiles: processors widen
// fewer vectors a cycle than they multiply. It must fit on the stack.
constexpr int64_t kRowsToWiden = 2 * kRows + 1;
constexpr int64_t kMostWidened = 9216;  // floats

void RunWidened(const GemmTask& task) {
  alignas(kVectorBytes) float wide[kMostWidened];
  for (int64_t p = task.panel_begin; p < task.panel_end; ++p) {
    const void* panel = PanelOf(task, p, sizeof(uint16_t));
    const int64_t n = PanelAt(task.n, p).n_vectors * kLanes * task.k;
    if (n > kMostWidened) {
      RunPanel(task, Tiles<uint16_t>::kTable, p, panel);
      continue;
    }
    const uint16_t* from = static_cast<const uint16_t*>(panel);
    int64_t i = 0;
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
      Vec first[2], second[2];
      LoadRow(from + i, first);
      LoadRow(from + i + 2 * kLanes, second);
      Store(wide + i, first[0]);
      Store(wide + i + kLanes, first[1]);
      Store(wide + i + 2 * kLanes, second[0]);
      Store(wide + i + 3 * kLanes, second[1]);
    }
    for (; i < n; i += kLanes) Store(wide + i, WidenHalves(from + i));
    RunPanel(task, Tiles<float>::kTable, p, wide);
  }
}
#endif

template <class T>
void Run(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
#if defined(__aarch64__)
  if constexpr (sizeof(T) == sizeof(uint16_t)) {
    if (task.m >= kRowsToWiden) return RunWidened(task);
  }
#endif
  RunTiles<T>(task);
}

#if defined(__x86_64__) && !defined(TW_SHORT_LOOPS) && !defined(__OPTIMIZE_SIZE__) && \
    !defined(TW_FOURS)
// A row by kLanes rows of W at a time, which are turned in registers: that takes no longer than they
// take to come from memory.
void RunRow(const GemmTask& t) {
  constexpr int64_t kAhead = 64;
  const int64_t end = FirstColumn(t.n, t.panel_end) < t.n ? FirstColumn(t.n, t.panel_end) : t.n;
  for (int64_t n0 = FirstColumn(t.n, t.panel_begin); n0 < end; n0 += kLanes) {
    const float* w = t.packed + n0 * t.k;
    const int64_t columns = t.n - n0;
    Vec acc = {};
    const auto load = [&](int column, int64_t k) {
      __builtin_prefetch(w + column * t.k + k + kAhead);
      return Load(w + column * t.k + k);
    };
    const auto load_some = [&](int column, int64_t k, int n) {
      return column < columns ? LoadFirst(w + column * t.k + k, n) : Vec{};
    };
    TransposeWords(t.k, columns >= kLanes ? t.k : 0, load, load_some,
                   [&](int64_t k, Vec v) { acc += v * t.a[k]; });
    alignas(kVectorBytes) float products[kLanes];
    Store(products, acc);
    EndRows(t, products, 0, 1, n0, 1);
  }
}

const GemmKernels kOfRows = {nullptr, nullptr, false,       nullptr, nullptr, 1,     1,
                             kLanes,  NPanels, FirstColumn, nullptr, nullptr, RunRow};
#define TW_OF_ROWS &kOfRows
#else
#define TW_OF_ROWS nullptr
#endif

#if defined(TW_HAVE_HALVES)
int64_t PackedHalves(int64_t n, int64_t k) { return Vectors(n) * kLanes / 2 * k; }

void PackAsHalves(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    PackHalves(w, p, reinterpret_cast<uint16_t*>(packed));
  }
}

const GemmKernels kOfHalves = {"gemm f16 weights " TW_STRING(TW_ISA),
                               nullptr,
                               true,
                               nullptr,
                               nullptr,
                               1,
                               kRows,
                               kMaxVectors* kLanes,
                               NPanels,
                               FirstColumn,
                               PackedHalves,
                               PackAsHalves,
                               Run<uint16_t>};
#endif

constexpr GemmKernels kFloats = {"gemm f32 " TW_STRING(TW_ISA),
                                 nullptr,
                                 kPacksHalves,
#if defined(TW_HAVE_HALVES)
                                 &kOfHalves,
#else
                                 nullptr,
#endif
                                 TW_OF_ROWS,
                                 1,
                                 kRows,
                                 kMaxVectors* kLanes,
                                 NPanels,
                                 FirstColumn,
                                 PackedSize,
                                 Pack,
                                 Run<float>,
                                 nullptr};

#if defined(TW_FOURS)
void PackAsFours(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  PackFours(
      w, panel_begin, panel_end, [](const auto* p, int n) { return LoadWeights(p, n); }, packed);
}

const GemmKernels kFourOfRows = {
    nullptr, nullptr,     false,   nullptr, nullptr,    1,      1, kMaxVectors* kLanes,
    NPanels, FirstColumn, nullptr, nullptr, RunFourRow, nullptr};
#endif

}  // namespace

extern const GemmKernels kGemmKernels;
#if defined(TW_FOURS)
const GemmKernels kGemmKernels = {"gemm fours " TW_STRING(TW_ISA),
                                  nullptr,
                                  kPacksHalves,
                                  nullptr,
                                  &kFourOfRows,
                                  kFour,
                                  2 * kFourRows,  // tasks as large as those of other tiles
                                  kMaxVectors* kLanes,
                                  NPanels,
                                  FirstColumn,
                                  PackedSize,
                                  PackAsFours,
                                  RunFours,
                                  &kFloats};
#else
const GemmKernels kGemmKernels = kFloats;
#endif

}  // namespace TW_ISA
}  // namespace topwork
