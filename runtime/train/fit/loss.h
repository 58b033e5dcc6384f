// Loss functions of the trainer, one row of scores (logits) at a time.
//
//   softmax   −Σ_c q_c · log softmax(z)_c, q = (1 − s)·onehot + s / C       one class per example
//   sigmoid   mean over outputs of the cross-entropy of σ(z_c) with t_c     any number of classes
//   mse       mean over outputs of (z − t)²                                 regression
//   huber     mean over outputs of ½(z − t)², linear beyond huber_delta     regression
// The mean over a mini-batch is that of PyTorch's CrossEntropyLoss, BCEWithLogitsLoss, MSELoss and
// HuberLoss with reduction "mean": with class weights, softmax divides by the sum of the rows'
// weights. Everything is computed through log-sum-exp; no probability is ever taken the logarithm
// of.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_LOSS_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_LOSS_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/selection.h"
#include "runtime/base/span.h"

namespace topwork {

// The numbers are those of `tw_loss` in the C API and of checkpoints.
enum class Loss : int {
  kSoftmaxCrossEntropy = 0,
  kSigmoidCrossEntropy = 1,
  kMeanSquaredError = 2,
  kHuber = 3,
};

const char* LossName(Loss loss);  // "softmax", "sigmoid", "mse", "huber"
// True when an example's target is the index of its class, false when it is one float per output.
inline bool UsesLabels(Loss loss) { return loss == Loss::kSoftmaxCrossEntropy; }
inline bool IsRegression(Loss loss) {
  return loss == Loss::kMeanSquaredError || loss == Loss::kHuber;
}

struct LossOptions {
  Extra<Loss> loss = Loss::kSoftmaxCrossEntropy;
  Extra<float> label_smoothing = 0.0f;  // s, in [0, 1); softmax, and sigmoid (t ← t·(1 − s) + s/2)
  float huber_delta = 1.0f;             // > 0
  // Empty, or one positive number per output: softmax weighs an example by its class (with
  // smoothing every term of Σ_c by its own), sigmoid its positive targets (pos_weight), regression
  // the output's squared or Huber error.
  std::vector<float> class_weights;
  // Focal loss (Lin et al. 2017): an example (softmax) or output (sigmoid) that is right with
  // probability p counts (1 − p)^focal_gamma times. 0: off; in [0, 10], without label_smoothing.
  Extra<float> focal_gamma = 0.0f;
};

// The targets of n rows: labels where UsesLabels, otherwise values.
struct Targets {
  const int32_t* labels = nullptr;       // [n]
  const float* const* values = nullptr;  // [n] pointers to n_outputs floats
  const float* weights = nullptr;        // [n], above 0; null: all 1
};

// The weight of row b in the batch's mean: its own times that of its class.
double RowWeight(const LossOptions& options, const Targets& targets, int64_t b);

// Turns the n_outputs scores of row b into d loss / d score in place, multiplied by `scale`
// (RowWeight included, the division by the batch's total not), and returns the row's loss,
// RowWeight included. *out_hits (may be null): softmax, 1 when the best score is the label's;
// sigmoid, the share of outputs on the right side of 0; regression, 0.
double LossRow(const LossOptions& options, const Targets& targets, int64_t b, int64_t n_outputs,
               float scale, float* scores, double* out_hits);

// The loss of row b alone, RowWeight included, by the same formulas in double precision, for
// evaluation; scores unchanged.
double EvaluateLossRow(const LossOptions& options, const Targets& targets, int64_t b,
                       int64_t n_outputs, const float* scores);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_LOSS_H_
