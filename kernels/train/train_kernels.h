// TrainKernels: the inner loops of training a dense layer on rows of features, one table for each
// instruction set.
//
//   forward   logits[b, c] = bias[c] + Σ_d weights[c, d] · row_b[d]
//   backward  gradient[c, d] = Σ_b delta[b, c] · row_b[d]
// Every output element is one sum in a fixed order that does not depend on the block it is computed
// in, so work may be cut anywhere and the bits stay the same. Rows are pointers: a mini-batch is
// never gathered.
#ifndef TOPWORK_KERNELS_TRAIN_TRAIN_KERNELS_H_
#define TOPWORK_KERNELS_TRAIN_TRAIN_KERNELS_H_

#include <cstdint>

#include "kernels/contract/cpu_kernels.h"

namespace topwork {

// A dense layer seen by one step; all arrays row-major and contiguous.
struct DenseStep {
  const float* const* rows = nullptr;  // [n_rows] pointers to dim floats
  int64_t n_rows = 0;
  int64_t dim = 0;
  int64_t n_classes = 0;
  // Of each row, never falling: elements from there on are zero. Null: all may be another number.
  const int64_t* lengths = nullptr;
};

struct SgdStep {
  float learning_rate = 0.0f;
  float momentum = 0.0f;  // 0: velocity may be null
  bool nesterov = false;
  float weight_decay = 0.0f;  // L2: the gradient gets + weight_decay · w
  float l1 = 0.0f;            // the gradient gets + l1 · sign(w), sign(0) = 0
};

struct AdamStep {
  float learning_rate = 0.0f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.0f;  // as in SgdStep
  float l1 = 0.0f;
  float keep = 1.0f;         // w is multiplied by it; AdamW: 1 − learning_rate · decay
  float correction1 = 1.0f;  // 1 / (1 − beta1^t)
  float correction2 = 1.0f;  // 1 / (1 − beta2^t)
};

// Rows of scores, all arrays by row.
struct SoftmaxStep {
  float* logits = nullptr;  // [n_rows, n_classes]
  int64_t n_rows = 0;
  int64_t n_classes = 0;
  const int32_t* labels = nullptr;
  const float* scales = nullptr;
  double* losses = nullptr;
  int32_t* best = nullptr;
};

// Of a row's d = z − max with weights e^(beta · d): Σ e, Σ e d, Σ e d².
struct SoftmaxMoments {
  double sum, first, second;
  float max;
};

// Rows and columns of add_products' tile.
constexpr int kProductTile = 16;
// Rows that multiply_rows reads at once.
constexpr int kSymmetricRows = 4;

struct TrainKernels {
  const char* isa;
  // Rows [row0, row1) × classes [class0, class1) of logits [n_rows, n_classes].
  void (*forward)(const DenseStep& step, const float* weights, const float* bias, int64_t row0,
                  int64_t row1, int64_t class0, int64_t class1, float* logits);
  // Classes [class0, class1) × elements [d0, d1) of gradient [n_classes, dim].
  void (*backward)(const DenseStep& step, const float* delta, int64_t class0, int64_t class1,
                   int64_t d0, int64_t d1, float* gradient);
  // Largest |x|; infinite when an element is not finite.
  float (*max_abs)(const float* x, int64_t n);
  // Σ x² in double precision.
  double (*sum_squares)(const float* x, int64_t n);
  void (*scale)(float factor, int64_t n, float* x);
  // In-place updates of n parameters.
  void (*sgd)(const SgdStep& step, int64_t n, const float* gradient, float* velocity,
              float* parameters);
  void (*adam)(const AdamStep& step, int64_t n, const float* gradient, float* m, float* v,
               float* parameters);
  // out[i · stride + j] += Σ_r a[r, i] · b[r, j] for i, j < kProductTile; a, b: [depth,
  // kProductTile].
  void (*add_products)(const double* a, const double* b, int64_t depth, int64_t stride,
                       double* out);
  // Σ a · b.
  double (*dot_doubles)(const double* a, const double* b, int64_t n);
  // row −= p · w + q · v; the updated row · next.
  double (*update_dot)(double p, const double* w, double q, const double* v, const double* next,
                       int64_t n, double* row);
  // kSymmetricRows rows, `stride` apart: sums[r] = row_r · v, and y += Σ_r factors[r] · row_r.
  void (*multiply_rows)(const double* rows, int64_t stride, int64_t n, const double* v,
                        const double* factors, double* y, double* sums);
  // SoftmaxCrossEntropyRow for many rows, with exponentials in vectors, which round differently. A
  // row's result does not depend on the others.
  void (*softmax_cross_entropy)(const SoftmaxStep& step);
  // For every row, in float32.
  void (*softmax_moments)(const float* logits, int64_t n_rows, int64_t n_classes, float beta,
                          SoftmaxMoments* out);
};

// The table that belongs to the instruction set of `cpu`.
const TrainKernels& TrainKernelsFor(const CpuKernels& cpu);
// The same by name ("baseline", "avx2", ...); the baseline's when this build has no other.
const TrainKernels& TrainKernelsFor(const char* isa);

// Used as a pointer to the table of a set. In a library of one set the compiler knows which (LoopFamily).
class TrainLoops {
 public:
  TrainLoops() = default;
  explicit TrainLoops(const CpuKernels& cpu)
      : table_(kHasOneIsa ? nullptr : &TrainKernelsFor(cpu)) {}
  const TrainKernels& operator*() const { return kHasOneIsa ? TrainKernelsFor("") : *table_; }
  const TrainKernels* operator->() const { return &operator*(); }

 private:
  const TrainKernels* table_ = nullptr;
};

// Softmax cross-entropy of one row. Turns logits into delta = (softmax − onehot) · scale in place,
// returns −log softmax[label] by log-sum-exp, and writes the index of the largest logit to
// *out_best.
double SoftmaxCrossEntropyRow(float* logits, int64_t n_classes, int32_t label, float scale,
                              int64_t* out_best);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_TRAIN_KERNELS_H_
