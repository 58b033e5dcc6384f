// Gradients of depthwise convolution: channels side by side in vectors. The input's gradient keeps
// a vector of channels in a register while it goes through the taps; the weights' gradient keeps a
// filter row of accumulators while it goes through the pixels. Then clamps' gradients,
// transpositions (kLanes × kLanes blocks in registers) and sums over rows.
#include <algorithm>
#include <utility>

#include "kernels/cpu/simd.h"
#include "kernels/train/backward_kernels.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Output positions that read input position `at` through tap k: (at + pad - k * dilation) / stride.
inline int64_t OutputOf(const BackwardAxis& axis, int64_t at, int64_t tap) {
  const int64_t reach = at + axis.pad - tap * axis.dilation;
  if (reach < 0 || reach % axis.stride != 0) return -1;
  const int64_t position = reach / axis.stride;
  return position < axis.out ? position : -1;
}

struct Tap {
  const float* delta;
  const float* filter;
};

void InputPixel(const Tap* taps, int n_taps, int64_t channels, bool accumulate, float* out) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int count = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    Vec sum = accumulate ? LoadFirst(out + c, count) : Vec{};
    for (int t = 0; t < n_taps; ++t) {
      sum += LoadFirst(taps[t].delta + c, count) * LoadFirst(taps[t].filter + c, count);
    }
    StoreFirst(out + c, sum, count);
  }
}

void DepthwiseInputRow(const DepthwiseBackward& d, int64_t b, int64_t y, bool accumulate,
                       float* out) {
  const BackwardAxis& h = d.h;
  const BackwardAxis& w = d.w;
  const float* delta = d.delta + b * h.out * w.out * d.channels;
  for (int64_t x = 0; x < w.in; ++x) {
    Tap taps[kMaxDepthwiseTaps];
    int n_taps = 0;
    for (int64_t ky = 0; ky < h.filter; ++ky) {
      const int64_t oy = OutputOf(h, y, ky);
      if (oy < 0) continue;
      for (int64_t kx = 0; kx < w.filter; ++kx) {
        const int64_t ox = OutputOf(w, x, kx);
        if (ox < 0) continue;
        taps[n_taps++] = {delta + (oy * w.out + ox) * d.channels,
                          d.filter + (ky * w.filter + kx) * d.channels};
      }
    }
    InputPixel(taps, n_taps, d.channels, accumulate, out + x * d.channels);
  }
}

// One row of WeightsOfRow at stride 1: neighbouring pixels share all but one of their inputs, which
// stay in registers. `ix` is the first pixel's first input; zeros lie beyond the row's ends.
template <int kTaps>
TW_INLINE void SlideOver(const DepthwiseBackward& d, const float* in, const float* delta,
                         int64_t ix, int count, Vec* acc) {
  const auto at = [&](int64_t x) {
    return x >= 0 && x < d.w.in ? LoadFirst(in + x * d.channels, count) : Vec{};
  };
  Vec seen[kTaps];
  for (int k = 1; k < kTaps; ++k) seen[k] = at(ix + k - 1);
  for (int64_t ox = 0; ox < d.w.out; ++ox) {
    for (int k = 1; k < kTaps; ++k) seen[k - 1] = seen[k];
    seen[kTaps - 1] = at(ix + ox + kTaps - 1);
    const Vec g = LoadFirst(delta + ox * d.channels, count);
    for (int k = 0; k < kTaps; ++k) acc[k] += g * seen[k];
  }
}

// Taps kx in [0, kTaps) of filter row ky for `count` channels from c: sums over all pixels of one
// image are added to `sums`.
template <int kTaps>
void WeightsOfRow(const DepthwiseBackward& d, int64_t b, int64_t ky, int64_t kx0, int64_t c,
                  int count, Vec* sums) {
  const BackwardAxis& h = d.h;
  const BackwardAxis& w = d.w;
  Vec acc[kTaps];
  for (int k = 0; k < kTaps; ++k) acc[k] = sums[k];
  for (int64_t oy = 0; oy < h.out; ++oy) {
    const int64_t iy = oy * h.stride - h.pad + ky * h.dilation;
    if (iy < 0 || iy >= h.in) continue;
    const float* in = d.x + (b * h.in + iy) * w.in * d.channels + c;
    const float* delta = d.delta + (b * h.out + oy) * w.out * d.channels + c;
    if (kTaps > 1 && w.stride == 1 && w.dilation == 1) {
      SlideOver<kTaps>(d, in, delta, kx0 - w.pad, count, acc);
      continue;
    }
    for (int64_t ox = 0; ox < w.out; ++ox) {
      const Vec g = LoadFirst(delta + ox * d.channels, count);
      const int64_t ix = ox * w.stride - w.pad + kx0 * w.dilation;
      for (int k = 0; k < kTaps; ++k) {
        const int64_t at = ix + k * w.dilation;
        if (at >= 0 && at < w.in) acc[k] += g * LoadFirst(in + at * d.channels, count);
      }
    }
  }
  for (int k = 0; k < kTaps; ++k) sums[k] = acc[k];
}

// Filter rows are taken five, three and one taps at a time, each for the whole batch. For
// precision, each image has its own sum, and the sums are added in order.
template <int kTaps>
void WeightsSegment(const DepthwiseBackward& d, int64_t ky, int64_t kx0, int64_t begin, int64_t end,
                    bool accumulate, float* out) {
  constexpr int kVectors = static_cast<int>(kDepthwiseChannels) / 4;
  Vec totals[kVectors][kTaps] = {};
  float* first = out + (ky * d.w.filter + kx0) * d.channels;
  for (int64_t b = 0; b < d.batch; ++b) {
    int v = 0;
    for (int64_t c = begin; c < end; c += kLanes, ++v) {
      const int count = end - c < kLanes ? static_cast<int>(end - c) : kLanes;
      Vec sums[kTaps] = {};
      WeightsOfRow<kTaps>(d, b, ky, kx0, c, count, sums);
      for (int k = 0; k < kTaps; ++k) totals[v][k] += sums[k];
    }
  }
  int v = 0;
  for (int64_t c = begin; c < end; c += kLanes, ++v) {
    const int count = end - c < kLanes ? static_cast<int>(end - c) : kLanes;
    for (int k = 0; k < kTaps; ++k) {
      float* to = first + k * d.channels + c;
      Vec total = totals[v][k];
      if (accumulate) total += LoadFirst(to, count);
      StoreFirst(to, total, count);
    }
  }
}

void DepthwiseWeights(const DepthwiseBackward& d, int64_t begin, int64_t end, bool accumulate,
                      float* out) {
  const int64_t n = d.w.filter;
  for (int64_t ky = 0; ky < d.h.filter; ++ky) {
    int64_t kx = 0;
    for (; kx + 5 <= n; kx += 5) WeightsSegment<5>(d, ky, kx, begin, end, accumulate, out);
    for (; kx + 3 <= n; kx += 3) WeightsSegment<3>(d, ky, kx, begin, end, accumulate, out);
    for (; kx < n; ++kx) WeightsSegment<1>(d, ky, kx, begin, end, accumulate, out);
  }
}

void PassBetween(const float* v, const float* delta, float lo, float hi, int64_t n, bool accumulate,
                 float* to) {
  const Vec los = Vec{} + lo, his = Vec{} + hi;
  for (int64_t i = 0; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    const Vec x = LoadFirst(v + i, count);
    const Vec d = LoadFirst(delta + i, count);
    Vec passed = los < x ? d : Vec{};
    passed = x < his ? passed : Vec{};
    if (accumulate) passed += LoadFirst(to + i, count);
    StoreFirst(to + i, passed, count);
  }
}

void Add(const float* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(to + i, Load(to + i) + Load(from + i));
  const int rest = static_cast<int>(n - i);
  if (rest > 0) StoreFirst(to + i, LoadFirst(to + i, rest) + LoadFirst(from + i, rest), rest);
}

// Exchanges blocks of kHalf lanes between two rows of a block that is transposed. In a, lanes
// without bit kHalf stay and the others come from b's; in b the other way round.
template <int kHalf, int... k>
TW_INLINE void Exchange(Vec* a, Vec* b, std::integer_sequence<int, k...>) {
  const Vec x = *a, y = *b;
#if defined(__clang__)
  *a = __builtin_shufflevector(x, y, ((k & kHalf) == 0 ? k : kLanes + k - kHalf)...);
  *b = __builtin_shufflevector(x, y, ((k & kHalf) == 0 ? k + kHalf : kLanes + k)...);
#else
  typedef int32_t Mask __attribute__((vector_size(kVectorBytes)));
  *a = __builtin_shuffle(x, y, Mask{((k & kHalf) == 0 ? k : kLanes + k - kHalf)...});
  *b = __builtin_shuffle(x, y, Mask{((k & kHalf) == 0 ? k + kHalf : kLanes + k)...});
#endif
}

template <int kHalf>
TW_INLINE void TransposeBlock(Vec* rows) {
  if constexpr (kHalf > 0) {
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kHalf) != 0) continue;
      Exchange<kHalf>(rows + i, rows + i + kHalf, std::make_integer_sequence<int, kLanes>());
    }
    TransposeBlock<kHalf / 2>(rows);
  }
}

void Transpose(const float* from, int64_t stride, int64_t n_rows, int64_t begin, int64_t end,
               float* to) {
  for (int64_t c0 = begin; c0 < end; c0 += kLanes) {
    const int columns = static_cast<int>(std::min<int64_t>(kLanes, end - c0));
    int64_t r0 = 0;
    for (; r0 + kLanes <= n_rows && columns == kLanes; r0 += kLanes) {
      Vec rows[kLanes];
      for (int i = 0; i < kLanes; ++i) rows[i] = Load(from + (r0 + i) * stride + c0);
      TransposeBlock<kLanes / 2>(rows);
      for (int i = 0; i < kLanes; ++i) Store(to + (c0 + i) * n_rows + r0, rows[i]);
    }
    for (int64_t c = c0; c < c0 + columns; ++c) {
      for (int64_t r = r0; r < n_rows; ++r) to[c * n_rows + r] = from[r * stride + c];
    }
  }
}

void SumRows(const float* x, int64_t n_rows, int64_t n_columns, int64_t begin, int64_t end,
             bool accumulate, float* out) {
  for (int64_t c = begin; c < end; c += kLanes) {
    const int count = end - c < kLanes ? static_cast<int>(end - c) : kLanes;
    Vec total = accumulate ? LoadFirst(out + c, count) : Vec{};
    for (int64_t first = 0; first < n_rows; first += kRowsPerSum) {
      const int64_t last = std::min(n_rows, first + kRowsPerSum);
      Vec sum{};
      for (int64_t r = first; r < last; ++r) sum += LoadFirst(x + r * n_columns + c, count);
      total += sum;
    }
    StoreFirst(out + c, total, count);
  }
}

}  // namespace

extern const BackwardKernels kBackwardKernels;
const BackwardKernels kBackwardKernels = {
    TW_STRING(TW_ISA), DepthwiseInputRow, DepthwiseWeights, PassBetween, Add, Transpose, SumRows};

}  // namespace TW_ISA
}  // namespace topwork
