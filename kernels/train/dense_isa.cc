// Forward and backward of a dense layer, compiled once per instruction set. Vectors are the
// compiler's own (vector_size), as wide as the instruction set's registers.
//
// Tiles of kRows × kClasses accumulators (forward) and kGradientClasses × 2 (backward) stay
// in registers; at the edges a tile repeats its last row or class and does not store it, so that
// there is one loop and not one per remainder.
#include <algorithm>
#include <cstring>

#include "kernels/train/update.h"

namespace topwork {
namespace TW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
// 32 vector registers hold 16 accumulators and their operands, 16 hold 8.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kClasses = 4;
#else
constexpr int kClasses = 2;
#endif
constexpr int kRows = 4;
constexpr int kGradientClasses = 4;
constexpr int kStrip = 2 * kLanes;
constexpr int kPanel = 64;

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
typedef float Vector4 __attribute__((vector_size(4 * sizeof(float))));

inline Vector Load(const float* p) {
  Vector v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

inline Vector LoadPartial(const float* p, int64_t n) {
  Vector v = {};
  std::memcpy(&v, p, static_cast<size_t>(n) * sizeof(float));
  return v;
}

inline float Sum(const Vector& v) {
  Vector4 parts[kLanes / 4];
  std::memcpy(parts, &v, sizeof(v));
  for (int n = kLanes / 8; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) parts[i] += parts[i + n];
  }
  return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
}

void ForwardTile(const float* const* rows, const float* const* weights, int64_t dim,
                 float (*out)[kClasses]) {
  Vector sums[kRows][kClasses] = {};
  int64_t d = 0;
  for (; d + kLanes <= dim; d += kLanes) {
    Vector w[kClasses];
    for (int j = 0; j < kClasses; ++j) w[j] = Load(weights[j] + d);
    for (int i = 0; i < kRows; ++i) {
      const Vector x = Load(rows[i] + d);
      for (int j = 0; j < kClasses; ++j) sums[i][j] += x * w[j];
    }
  }
  if (d < dim) {
    Vector w[kClasses];
    for (int j = 0; j < kClasses; ++j) w[j] = LoadPartial(weights[j] + d, dim - d);
    for (int i = 0; i < kRows; ++i) {
      const Vector x = LoadPartial(rows[i] + d, dim - d);
      for (int j = 0; j < kClasses; ++j) sums[i][j] += x * w[j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kClasses; ++j) out[i][j] = Sum(sums[i][j]);
  }
}

void Forward(const DenseStep& step, const float* weights, const float* bias, int64_t row0,
             int64_t row1, int64_t class0, int64_t class1, float* logits) {
  for (int64_t c = class0; c < class1; c += kClasses) {
    const float* w[kClasses];
    for (int j = 0; j < kClasses; ++j) w[j] = weights + std::min(c + j, class1 - 1) * step.dim;
    for (int64_t b = row0; b < row1; b += kRows) {
      const float* x[kRows];
      for (int i = 0; i < kRows; ++i) x[i] = step.rows[std::min(b + i, row1 - 1)];
      float tile[kRows][kClasses];
      ForwardTile(x, w, step.dim, tile);
      for (int i = 0; i < kRows && b + i < row1; ++i) {
        for (int j = 0; j < kClasses && c + j < class1; ++j) {
          logits[(b + i) * step.n_classes + c + j] = tile[i][j] + bias[c + j];
        }
      }
    }
  }
}

// One strip of the backward pass: kStrip elements of up to kPanel rows, side by side, so that rows
// whose distance is a power of two do not evict each other from the cache.
struct Panel {
  Vector x[kPanel][2];
  int64_t first_row;
  int64_t n_rows;
  int64_t d;
  int64_t n;  // elements of the strip that exist
};

void FillPanel(const DenseStep& step, int64_t first_row, int64_t d, int64_t d1, Panel* panel) {
  panel->first_row = first_row;
  panel->n_rows = std::min<int64_t>(kPanel, step.n_rows - first_row);
  panel->d = d;
  panel->n = std::min<int64_t>(kStrip, d1 - d);
  for (int64_t b = 0; b < panel->n_rows; ++b) {
    const float* row = step.rows[first_row + b] + d;
    if (panel->n == kStrip) {
      panel->x[b][0] = Load(row);
      panel->x[b][1] = Load(row + kLanes);
    } else {
      const int64_t n_low = std::min<int64_t>(kLanes, panel->n);
      panel->x[b][0] = LoadPartial(row, n_low);
      panel->x[b][1] = LoadPartial(row + n_low, panel->n - n_low);
    }
  }
}

// Adds the panel's rows to kGradientClasses rows of the gradient, of which n_classes are stored.
// Sums go on from what earlier panels stored: the order stays that of the rows.
void BackwardTile(const DenseStep& step, const Panel& panel, const float* delta,
                  const int64_t* classes, int n_classes, float* gradient) {
  const size_t strip_bytes = static_cast<size_t>(panel.n) * sizeof(float);
  Vector sums[kGradientClasses][2] = {};
  if (panel.first_row > 0) {
    for (int j = 0; j < kGradientClasses; ++j) {
      std::memcpy(sums[j], gradient + classes[j] * step.dim + panel.d, strip_bytes);
    }
  }
  for (int64_t b = 0; b < panel.n_rows; ++b) {
    const float* delta_row = delta + (panel.first_row + b) * step.n_classes;
    const Vector low = panel.x[b][0];
    const Vector high = panel.x[b][1];
    for (int j = 0; j < kGradientClasses; ++j) {
      const float scale = delta_row[classes[j]];
      sums[j][0] += low * scale;
      sums[j][1] += high * scale;
    }
  }
  for (int j = 0; j < n_classes; ++j) {
    std::memcpy(gradient + classes[j] * step.dim + panel.d, sums[j], strip_bytes);
  }
}

void Backward(const DenseStep& step, const float* delta, int64_t class0, int64_t class1, int64_t d0,
              int64_t d1, float* gradient) {
  Panel panel;
  for (int64_t d = d0; d < d1; d += kStrip) {
    for (int64_t b = 0; b < step.n_rows; b += kPanel) {
      FillPanel(step, b, d, d1, &panel);
      for (int64_t c = class0; c < class1; c += kGradientClasses) {
        int64_t classes[kGradientClasses];
        for (int j = 0; j < kGradientClasses; ++j) classes[j] = std::min(c + j, class1 - 1);
        const int n_classes = static_cast<int>(std::min<int64_t>(kGradientClasses, class1 - c));
        BackwardTile(step, panel, delta, classes, n_classes, gradient);
      }
    }
  }
}

#define TW_STRING_INNER(x) #x
#define TW_STRING(x) TW_STRING_INNER(x)
}  // namespace

extern const TrainKernels kTrainKernels;
const TrainKernels kTrainKernels = {
    TW_STRING(TW_ISA), Forward, Backward, MaxAbs, SumSquares, Scale, Sgd, Adam, AddProducts};

}  // namespace TW_ISA
}  // namespace topwork
