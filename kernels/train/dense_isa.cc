// Forward and backward of a dense layer, compiled once for each instruction set.
//
// Both run in register tiles over blocks that fit the first cache. The forward pass packs the
// weights of kGroup classes × kDepth elements, because rows whose distance is a power of two would
// evict each other. The backward pass copies kPanelRows × kPanelWidth elements of the rows. The
// problem's shape alone decides where the blocks lie, so no split of the work changes a sum.
#include <algorithm>
#include <utility>

#include "kernels/cpu/simd.h"
#include "kernels/train/isa_functions.h"
#include "runtime/base/stringify.h"

namespace topwork {
namespace TW_ISA {
namespace {

// 32 vector registers hold 16 accumulators and their operands, 16 hold 8.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kClasses = 4;
constexpr int kStripVectors = 4;
#else
constexpr int kClasses = 2;
constexpr int kStripVectors = 2;
#endif
constexpr int kRows = 4;
constexpr int64_t kDepth = 512;
constexpr int64_t kGroup = 8;        // classes packed at a time
constexpr int64_t kMinPackRows = 8;  // fewer rows do not repay packing

constexpr int kGradientClasses = 4;
constexpr int kStrip = kStripVectors * kLanes;
constexpr int64_t kPanelRows = 32;
constexpr int64_t kPanelWidth = 128;

// Lanes of a and b in blocks of 2·kHalf: lower halves plus upper halves, side by side.
template <int kHalf, int... k>
TW_INLINE Vec AddHalves(Vec a, Vec b, std::integer_sequence<int, k...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (k / kHalf * 2 * kHalf + k % kHalf)...) +
         __builtin_shufflevector(a, b, (k / kHalf * 2 * kHalf + k % kHalf + kHalf)...);
#else
  typedef int32_t Mask __attribute__((vector_size(kVectorBytes)));
  const Mask lower = {(k / kHalf * 2 * kHalf + k % kHalf)...};
  return __builtin_shuffle(a, b, lower) + __builtin_shuffle(a, b, lower + kHalf);
#endif
}

// The sums over lanes of kLanes vectors as the lanes of one, by a tree.
template <int kHalf>
TW_INLINE Vec SumLanes(const Vec* v) {
  if constexpr (kHalf == kLanes) {
    return v[0];
  } else {
    // Below here each half of the vectors has been merged into blocks of 2·kHalf lanes.
    const Vec a = SumLanes<2 * kHalf>(v);
    const Vec b = SumLanes<2 * kHalf>(v + kLanes / (2 * kHalf));
    return AddHalves<kHalf>(a, b, std::make_integer_sequence<int, kLanes>());
  }
}

// kRows rows × kN classes over `depth` elements; the next vector of a class is `stride` floats on.
// out[row · kClasses + class].
template <int kN>
TW_INLINE void SumTile(const float* const* rows, const float* const* weights, int64_t stride,
                       int64_t depth, float* out) {
  Vec sums[kRows * kClasses];
  for (Vec& sum : sums)
    sum = Vec{};  // in registers: as an initialiser it is a call that fills memory
  int64_t d = 0;
  int64_t at = 0;
  for (; d + kLanes <= depth; d += kLanes, at += stride) {
    Vec w[kN];
    for (int j = 0; j < kN; ++j) w[j] = Load(weights[j] + at);
    for (int i = 0; i < kRows; ++i) {
      const Vec x = Load(rows[i] + d);
      for (int j = 0; j < kN; ++j) sums[i * kClasses + j] += x * w[j];
    }
  }
  if (d < depth) {
    const int n = static_cast<int>(depth - d);
    for (int i = 0; i < kRows; ++i) {
      const Vec x = LoadFirst(rows[i] + d, n);
      for (int j = 0; j < kN; ++j) sums[i * kClasses + j] += x * LoadFirst(weights[j] + at, n);
    }
  }
  for (int k = 0; k < kRows * kClasses; k += kLanes) Store(out + k, SumLanes<1>(sums + k));
}

void SumTile(int n_classes, const float* const* rows, const float* const* weights, int64_t stride,
             int64_t depth, float* out) {
  switch (n_classes) {
    case 1:
      return SumTile<1>(rows, weights, stride, depth, out);
    case 2:
      return SumTile<2>(rows, weights, stride, depth, out);
#if defined(__AVX512F__) || defined(__aarch64__)
    case 3:
      return SumTile<3>(rows, weights, stride, depth, out);
    case 4:
      return SumTile<4>(rows, weights, stride, depth, out);
#endif
  }
}

// Adds a tile's sums to the logits of n_rows rows from `to` on, or to the bias where they are the first.
template <int kN>
TW_INLINE void AddTile(const float* tile, const float* bias, int64_t n_rows, int64_t stride,
                       float* to) {
  for (int64_t i = 0; i < n_rows; ++i, to += stride) {
    float sums[kN];  // a copy: `bias` might be what `to` is
    for (int j = 0; j < kN; ++j) sums[j] = (bias != nullptr ? bias[j] : to[j]) + tile[j];
    for (int j = 0; j < kN; ++j) to[j] = sums[j];
    tile += kClasses;
  }
}

// Weights of one group of classes and one block of depth, as SumTile reads them.
struct Weights {
  float packed[kGroup * kDepth];
  const float* classes[kGroup];
  int64_t stride;
};

void PackWeights(const float* weights, int64_t dim, int64_t n_classes, int64_t depth, bool pack,
                 Weights* out) {
  out->stride = pack ? kClasses * kLanes : kLanes;
  for (int64_t c = 0; c < n_classes; ++c) {
    const float* from = weights + c * dim;
    out->classes[c] = from;
    if (!pack) continue;
    float* to = out->packed + c / kClasses * kClasses * kDepth + c % kClasses * kLanes;
    out->classes[c] = to;
    int64_t d = 0;
    for (; d + kLanes <= depth; d += kLanes, to += out->stride) Store(to, Load(from + d));
    if (d < depth) CopyFew(to, from + d, static_cast<int>(depth - d));
  }
}

// How many of the elements [d, d + depth) of rows up to `row` are to be read, in whole vectors.
int64_t Used(const DenseStep& step, int64_t row, int64_t d, int64_t depth) {
  if (step.lengths == nullptr) return depth;
  const int64_t used = std::max<int64_t>(d == 0 ? 1 : 0, step.lengths[row] - d);
  return std::min(depth, (used + kLanes - 1) / kLanes * kLanes);
}

void Forward(const DenseStep& step, const float* weights, const float* bias, int64_t row0,
             int64_t row1, int64_t class0, int64_t class1, float* logits) {
  Weights w;
  for (int64_t c0 = class0; c0 < class1; c0 += kGroup) {
    const int64_t c1 = std::min(c0 + kGroup, class1);
    for (int64_t d = 0; d < step.dim; d += kDepth) {
      const int64_t depth = Used(step, row1 - 1, d, std::min(kDepth, step.dim - d));
      if (depth == 0) break;
      PackWeights(weights + c0 * step.dim + d, step.dim, c1 - c0, depth,
                  row1 - row0 >= kMinPackRows, &w);
      for (int64_t b = row0; b < row1; b += kRows) {
        const float* x[kRows];
        for (int i = 0; i < kRows; ++i) x[i] = step.rows[std::min(b + i, row1 - 1)] + d;
        const int64_t used = Used(step, std::min(b + kRows, row1) - 1, d, depth);
        if (used == 0) continue;
        for (int64_t c = c0; c < c1; c += kClasses) {
          const int n_classes = static_cast<int>(std::min<int64_t>(kClasses, c1 - c));
          float tile[kRows * kClasses];
          SumTile(n_classes, x, w.classes + (c - c0), w.stride, used, tile);
          const float* first = d == 0 ? bias + c : nullptr;
          const int64_t n_rows = std::min<int64_t>(kRows, row1 - b);
          float* to = logits + b * step.n_classes + c;
          if (n_classes == kClasses) {
            AddTile<kClasses>(tile, first, n_rows, step.n_classes, to);
          } else {
            for (int j = 0; j < n_classes; ++j) {
              AddTile<1>(tile + j, first == nullptr ? first : first + j, n_rows, step.n_classes,
                         to + j);
            }
          }
        }
      }
    }
  }
}

// Elements [d, d + n) of some rows, side by side, with zeros after the n-th.
struct Panel {
  alignas(64) float x[kPanelRows][kPanelWidth];
  int64_t first_row;
  int64_t n_rows;
  bool is_first;
  int64_t d;
  int64_t n;
};

void FillPanel(const DenseStep& step, int64_t first_row, int64_t d, int64_t d1, Panel* panel) {
  panel->first_row = first_row;
  panel->n_rows = std::min(kPanelRows, step.n_rows - first_row);
  panel->d = d;
  panel->n = std::min(kPanelWidth, d1 - d);
  // What a strip reads.
  const int64_t width = std::min<int64_t>(kPanelWidth, (panel->n + kStrip - 1) / kStrip * kStrip);
  for (int64_t b = 0; b < panel->n_rows; ++b) {
    const float* row = step.rows[first_row + b] + d;
    int64_t k = 0;
    for (; k + kLanes <= panel->n; k += kLanes) Store(panel->x[b] + k, Load(row + k));
    for (; k < width; k += kLanes) {
      const int n = static_cast<int>(std::max<int64_t>(0, panel->n - k));
      Store(panel->x[b] + k, n > 0 ? LoadFirst(row + k, n) : Vec{});
    }
  }
}

// Adds the panel's rows to kN rows of the gradient, from class c and the panel's element `first`
// on. Sums continue from what earlier panels stored, so their order is that of the rows.
template <int kN>
TW_INLINE void BackwardTile(const DenseStep& step, const Panel& panel, const float* delta,
                            int64_t c, int64_t first, float* gradient) {
  float* to = gradient + c * step.dim + panel.d + first;
  const int n = static_cast<int>(std::min<int64_t>(kStrip, panel.n - first));
  Vec sums[kN][kStripVectors];
  for (int j = 0; j < kN; ++j) {
    for (int k = 0; k < kStripVectors; ++k) sums[j][k] = Vec{};
  }
  if (!panel.is_first) {
    for (int j = 0; j < kN; ++j) {
      for (int k = 0; k < kStripVectors && k * kLanes < n; ++k) {
        sums[j][k] = LoadFirst(to + j * step.dim + k * kLanes, n - k * kLanes);
      }
    }
  }
  const float* factors = delta + panel.first_row * step.n_classes + c;
  for (int64_t b = 0; b < panel.n_rows; ++b, factors += step.n_classes) {
    Vec x[kStripVectors];
    for (int k = 0; k < kStripVectors; ++k) x[k] = Load(panel.x[b] + first + k * kLanes);
    for (int j = 0; j < kN; ++j) {
      const float factor = factors[j];
      for (int k = 0; k < kStripVectors; ++k) sums[j][k] += x[k] * factor;
    }
  }
  for (int j = 0; j < kN; ++j) {
    for (int k = 0; k < kStripVectors && k * kLanes < n; ++k) {
      StoreFirst(to + j * step.dim + k * kLanes, sums[j][k], n - k * kLanes);
    }
  }
}

void Backward(const DenseStep& step, const float* delta, int64_t class0, int64_t class1, int64_t d0,
              int64_t d1, float* gradient) {
  static_assert(kGradientClasses == 4, "one case for every remainder");
  Panel panel;
  for (int64_t d = d0; d < d1; d += kPanelWidth) {
    int64_t first_row = 0;  // panels of nothing but zeros are skipped
    while (step.lengths != nullptr && first_row + kPanelRows < step.n_rows &&
           step.lengths[first_row + kPanelRows - 1] <= d) {
      first_row += kPanelRows;
    }
    for (int64_t b = first_row; b < step.n_rows; b += kPanelRows) {
      FillPanel(step, b, d, d1, &panel);
      panel.is_first = b == first_row;
      for (int64_t c = class0; c < class1; c += kGradientClasses) {
        for (int64_t first = 0; first < panel.n; first += kStrip) {
          switch (std::min<int64_t>(kGradientClasses, class1 - c)) {
            case 1:
              BackwardTile<1>(step, panel, delta, c, first, gradient);
              break;
            case 2:
              BackwardTile<2>(step, panel, delta, c, first, gradient);
              break;
            case 3:
              BackwardTile<3>(step, panel, delta, c, first, gradient);
              break;
            case 4:
              BackwardTile<4>(step, panel, delta, c, first, gradient);
              break;
          }
        }
      }
    }
  }
}

}  // namespace

extern const TrainKernels kTrainKernels;
const TrainKernels kTrainKernels = {TW_STRING(TW_ISA),   Forward,         Backward,  MaxAbs,
                                    SumSquares,          Scale,           Sgd,       Adam,
                                    AddProducts,         DotDoubles,      UpdateDot, MultiplyRows,
                                    SoftmaxCrossEntropy, MomentsOfSoftmax};

}  // namespace TW_ISA
}  // namespace topwork
