// Products of bfloat16 numbers for gemm_half_isa.cc: a word of W is two neighbouring depths of a
// column, the lower depth in the lower half. Their products are added to a float32.
#ifndef TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_
#define TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_

#include "kernels/cpu/bfloat16_words.h"
#include "kernels/cpu/gemm_tiles.h"

namespace topwork {
namespace TW_ISA {
namespace {

constexpr const char* kHalfType = "bfloat16";
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

void Pack(const GemmWeights& w, int64_t panel_begin, int64_t panel_end, float* packed) {
  Piece piece;
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const Panel panel = PanelAt(w.n, p);
    const int64_t width = panel.n_vectors * kLanes, n0 = panel.vector * kLanes;
    float* out = packed + n0 * Words(w.k);
    if (w.stride_n == 1 && w.depth[2] == w.k) {
      PackRows(w, n0, width, out);
      continue;
    }
    for (int64_t j = 0; j < width; ++j) PackColumn(w, n0 + j, width, &piece, out + j);
  }
}

#if defined(__aarch64__)
// acc += the words kLane, kLane + 1, ... of x times theirs of W; returns where W goes on.
template <int kLane, int kM, int kN>
TW_INLINE const float* AddLanes(Vec (&acc)[kM][kN], const Vec (&x)[kM], const float* w) {
  Vec wv[kN];
#pragma GCC unroll 4
  for (int j = 0; j < kN; ++j) wv[j] = Load(w + j * kLanes);
#pragma GCC unroll 16
  for (int m = 0; m < kM; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[m][j] = AddProductsOfLane<kLane>(acc[m][j], wv[j], x[m]);
  }
  w += kN * kLanes;
  if constexpr (kLane + 1 < kLanes) w = AddLanes<kLane + 1>(acc, x, w);
  return w;
}
#endif

template <int kM, int kN>
TW_INLINE const float* Accumulate(Vec (&acc)[kM][kN], const float* const (&a)[kM], const float* w,
                                  int64_t depth) {
  int64_t k = 0;
#if defined(__aarch64__)
  for (; k + kLanes <= depth; k += kLanes) {
    Vec x[kM];
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) x[m] = Load(a[m] + k);
    w = AddLanes<0>(acc, x, w);
  }
#endif
  for (; k < depth; ++k) {
    Vec wv[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) wv[j] = Load(w + j * kLanes);
    w += kN * kLanes;
#pragma GCC unroll 16
    for (int m = 0; m < kM; ++m) {
      const Vec x = Broadcast(a[m][k]);
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) acc[m][j] = AddProducts(acc[m][j], wv[j], x);
    }
  }
  return w;
}

}  // namespace
}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_CPU_GEMM_BFLOAT16_H_
