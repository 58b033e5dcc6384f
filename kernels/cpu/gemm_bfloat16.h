// Products of bfloat16 numbers for gemm_half_isa.cc: a word of W is two neighbouring depths of a
// column, the lower depth in the lower half. Their products are added to a float32.
//
// NEON multiplies two rows of A by two columns of W, two words of each (bfmmla), so there the words
// of two columns lie together: of every vector of four columns, those of the first two lie where
// others have the lower word, those of the last two where they have the higher. A last word
// without a partner lies as it does elsewhere.
#ifndef TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_
#define TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_

#if defined(__aarch64__)
#define TW_PAIRS_OF_ROWS
#endif

#include "kernels/cpu/bfloat16_words.h"
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr const char* kHalfType = "bfloat16";
#if defined(__aarch64__)
constexpr int kDepths = 4;  // that are multiplied together
#else
constexpr int kDepths = 2;
#endif
constexpr int kPair = 2 * kLanes;  // values that become one vector of words

int64_t Words(int64_t k) { return (k + 1) / 2; }

// Rounds n values to Words(n) words.
void ToWords(const float* in, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + kPair <= n; i += kPair, out += kLanes) {
    Store(out, RoundPairs(Load(in + i), Load(in + i + kLanes)));
  }
  const int64_t left = n - i;
  if (left == 0) return;
  const Vec words = RoundPairs(LoadSome(in + i, left), LoadSome(in + i + kLanes, left - kLanes));
  StoreSome(out, words, Words(left));
}

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

// One panel of whole rows of a [k x n] matrix, from column n0 on.
void PackRows(const GemmWeights& w, int64_t n0, int64_t width, float* out) {
  for (int64_t k = 0; k < w.k; k += 2, out += width) {
    const float* row = w.data + k * w.stride_k[2] + n0;
    const float* next = k + 1 < w.k ? row + w.stride_k[2] : nullptr;
    for (int64_t j = 0; j < width; j += kLanes) {
      const int64_t count = w.n - n0 - j;
      const Vec high = next != nullptr ? LoadSome(next + j, count) : Vec{};
      Store(out + j, RoundRows(LoadSome(row + j, count), high));
    }
  }
}

// Puts the words of two columns together, from rows of `width` words.
void PairColumns(int64_t words, int64_t width, float* panel) {
#if defined(__aarch64__)
  for (int64_t k = 0; k + 2 <= words; k += 2, panel += 2 * width) {
    for (int64_t j = 0; j < width; j += kLanes) {
      const float32x4_t low = vld1q_f32(panel + j), high = vld1q_f32(panel + width + j);
      vst1q_f32(panel + j, vzip1q_f32(low, high));
      vst1q_f32(panel + width + j, vzip2q_f32(low, high));
    }
  }
#else
  (void)words, (void)width, (void)panel;
#endif
}

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  Piece piece;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    float* out = packed + n0 * Words(w.k);
    if (w.stride_n == 1 && w.depth[2] == w.k) {
      PackRows(w, n0, width, out);
    } else {
      for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, &piece, out + j);
    }
    PairColumns(Words(w.k), width, out);
  }
}

// acc += word k of A * W; returns where W goes on.
template <int kM, int kN>
TW_INLINE const float* AddWord(Vec (&acc)[kM][kN], const float* const (&a)[kM], const float* w,
                               int64_t k) {
  Vec wv[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) wv[j] = Load(w + j * kLanes);
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
    const Vec x = Broadcast(a[m][k]);
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = AddProducts(acc[m][j], wv[j], x);
  }
  return w + kN * kLanes;
}

#if defined(__aarch64__)

constexpr int Partner(int row, int rows) { return row + 1 < rows ? row + 1 : row; }

// sum += two words of A * W, of two rows in x[p]; returns where W goes on.
template <int kPairs, int kVectors>
TW_INLINE const float* AddTwoWords(Vec (&sum)[kPairs][kVectors], const Vec (&x)[kPairs],
                                   const float* w) {
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j, w += kLanes) {
    const Vec wv = Load(w);
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) sum[p][j] = AddBlocks(sum[p][j], x[p], wv);
  }
  return w;
}

template <class T, int kM, int kN>
TW_INLINE const T* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const T* w,
                              int64_t depth) {
  constexpr int kPairs = (kM + 1) / 2;  // of rows; the last of an odd number is its own partner
  Vec sum[kPairs][2 * kN] = {}, x[kPairs], x_next[kPairs];
  int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      const Vec row = Load(a[2 * p] + k), partner = Load(a[Partner(2 * p, kM)] + k);
      x[p] = JoinLow(row, partner);
      x_next[p] = JoinHigh(row, partner);
    }
    w = AddTwoWords(sum, x, w);
    w = AddTwoWords(sum, x_next, w);
  }
  if (k + 2 <= depth) {
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) x[p] = LoadHalves(a[2 * p] + k, a[Partner(2 * p, kM)] + k);
    w = AddTwoWords(sum, x, w);
    k += 2;
  }
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) {
      const Vec left = sum[m / 2][j], right = sum[m / 2][kN + j];
      acc[m][j] += m % 2 == 0 ? JoinLow(left, right) : JoinHigh(left, right);
    }
  }
  return k < depth ? AddWord(acc, a, w, k) : w;
}

#else

template <class T, int kM, int kN>
TW_INLINE const T* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const T* w,
                              int64_t depth) {
  for (int64_t k = 0; k < depth; ++k) w = AddWord(acc, a, w, k);
  return w;
}

#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_
