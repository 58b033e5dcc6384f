// The packed GEMM in bfloat16, for sets that add the products of two neighbouring depths to a
// float32: a word of A and of W is such a pair, the lower depth in the lower half. Behind an odd
// depth stands a zero on both sides.
//
// A task rounds its rows of A into GemmTask::work first, so that the tiles read words as those of
// float32 do. Rounding is to nearest, ties to even; subnormal numbers count as zero.
#include <immintrin.h>

#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

TW_INLINE __m512i Bits(__m512bh v) { return reinterpret_cast<__m512i>(v); }
TW_INLINE __m512i Words(__m256bh v) { return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(v)); }

constexpr int kPair = 2 * kLanes;  // values that become one vector of words

// The first `count` < 16 lanes of p, from `first` on; zeros behind them.
TW_INLINE __m512 LoadSome(const float* p, int64_t count, int first) {
  const int64_t left = count - first;
  if (left <= 0) return _mm512_setzero_ps();
  const __mmask16 mask = left >= kLanes ? __mmask16(0xffff) : __mmask16((1u << left) - 1u);
  return _mm512_maskz_loadu_ps(mask, p + first);
}

// Rounds n values to (n + 1) / 2 words.
void ToWords(const float* in, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kPair <= n; i += kPair, out += kLanes) {
    const __m512bh words =
        _mm512_cvtne2ps_pbh(_mm512_loadu_ps(in + i + kLanes), _mm512_loadu_ps(in + i));
    _mm512_storeu_si512(out, Bits(words));
  }
  if (i == n) return;
  const int64_t left = n - i;
  const __m512bh words =
      _mm512_cvtne2ps_pbh(LoadSome(in + i, left, kLanes), LoadSome(in + i, left, 0));
  _mm512_mask_storeu_epi32(out, __mmask16((1u << ((left + 1) / 2)) - 1u), Bits(words));
}

int64_t Words(int64_t k) { return (k + 1) / 2; }

int64_t PackedSize(int64_t n, int64_t k) { return Vectors(n) * kLanes * Words(k); }

// A piece of column n of W, rounded.
struct Piece {
  static constexpr int kValues = 256;
  float values[kValues], words[kValues / 2];
};

// Column n of W (zeros beyond the last) into every `width`-th word from `out`.
void PackColumn(const GemmWeights& w, int64_t n, int64_t width, Piece* piece, float* out) {
  int filled = 0;
  const auto flush = [&] {
    ToWords(piece->values, filled, piece->words);
    for (int i = 0; i < (filled + 1) / 2; ++i, out += width) *out = piece->words[i];
    filled = 0;
  };
  for (int64_t i = 0; i < w.depth[0]; ++i) {
    for (int64_t j = 0; j < w.depth[1]; ++j) {
      const float* in = w.data + n * w.stride_n + i * w.stride_k[0] + j * w.stride_k[1];
      for (int64_t l = 0; l < w.depth[2]; ++l) {
        piece->values[filled++] = n < w.n ? in[l * w.stride_k[2]] : 0.0f;
        if (filled == Piece::kValues) flush();
      }
    }
  }
  flush();
}

// A vector of words: row k of a [k x n] matrix in the lower halves, row k + 1 in the upper ones.
TW_INLINE void PackRows(const float* lower, const float* upper, int64_t count, float* out) {
  const __m512 low = LoadSome(lower, count, 0);
  const __m512 high = upper != nullptr ? LoadSome(upper, count, 0) : _mm512_setzero_ps();
  const __m512i low_half = Words(_mm512_cvtneps_pbh(low));
  const __m512i high_half = Words(_mm512_cvtneps_pbh(high));
  _mm512_storeu_si512(out, _mm512_or_si512(low_half, _mm512_slli_epi32(high_half, 16)));
}

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  Piece piece;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    float* out = packed + n0 * Words(w.k);
    if (w.stride_n == 1 && w.depth[2] == w.k) {  // whole rows of a [k x n] matrix
      for (int64_t k = 0; k < w.k; k += 2, out += width) {
        const float* row = w.data + k * w.stride_k[2] + n0;
        const float* next = k + 1 < w.k ? row + w.stride_k[2] : nullptr;
        for (int64_t j = 0; j < width; j += kLanes) {
          PackRows(row + j, next != nullptr ? next + j : nullptr, w.n - n0 - j, out + j);
        }
      }
      continue;
    }
    for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, &piece, out + j);
  }
}

template <int kM, int kN>
TW_INLINE const float* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const float* w,
                                  int64_t depth) {
  for (int64_t k = 0; k < depth; ++k) {
    __m512bh wv[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) wv[j] = reinterpret_cast<__m512bh>(Load(w + j * kLanes));
    w += kN * kLanes;
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) {
      const __m512bh x = reinterpret_cast<__m512bh>(_mm512_set1_ps(a[m][k]));
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        acc[m][j] =
            reinterpret_cast<Vec>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(acc[m][j]), wv[j], x));
      }
    }
  }
  return w;
}

// A in words; the task's lengths along k become words, too.
void RoundA(GemmTask* task) {
  const float* a = task->a;
  float* to = task->work;
  task->a = to;
  if (task->lda < task->run_k) {
    const int64_t length = (task->m - 1) * task->lda + task->run_k;
    for (int64_t run = 0; run < task->runs; ++run) {
      ToWords(a + run * task->run_stride, length, to + run * Words(length));
    }
    task->lda = Words(task->lda);
    task->run_stride = Words(length);
  } else {
    const int64_t words = Words(task->run_k);
    for (int64_t row = 0; row < task->m; ++row) {
      for (int64_t run = 0; run < task->runs; ++run, to += words) {
        ToWords(a + row * task->lda + run * task->run_stride, task->run_k, to);
      }
    }
    task->lda = words * task->runs;
    task->run_stride = words;
  }
  task->run_k = Words(task->run_k);
  task->run_skip /= 2;
  task->first_k /= 2;
  task->k = Words(task->k);
}

void Run(const GemmTask& given) {
  if (given.m <= 0) return;
  GemmTask task = given;
  if (task.run_k < 0) task.run_k = task.k;
  RoundA(&task);
  RunTiles(task);
}

}  // namespace

extern const GemmKernels kHalfGemmKernels;
const GemmKernels kHalfGemmKernels = {"gemm bf16 " TW_STRING(TW_ISA),
                                      "bfloat16",
                                      kRows,
                                      kMaxVectors* kLanes,
                                      NPanels,
                                      FirstColumn,
                                      PackedSize,
                                      Pack,
                                      Run};

}  // namespace TW_ISA
}  // namespace topwork
