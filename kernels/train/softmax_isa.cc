// Softmax cross-entropy and its gradient, one row at a time, by log-sum-exp; compiled once for each
// instruction set because of the exponentials. SoftmaxCrossEntropyRow is the same in portable code.
#include <cmath>

#include "kernels/cpu/vector_math.h"
#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {

double SoftmaxCrossEntropy(float* logits, int64_t n_classes, int32_t label, float scale,
                           int64_t* out_best) {
  // Few classes cost more to gather into a vector than they save.
  if (n_classes < kLanes / 2) {
    return SoftmaxCrossEntropyRow(logits, n_classes, label, scale, out_best);
  }
  int64_t best = 0;
  for (int64_t c = 1; c < n_classes; ++c) {
    if (logits[c] > logits[best]) best = c;
  }
  *out_best = best;
  const float max = logits[best];
  const double true_logit = static_cast<double>(logits[label]) - static_cast<double>(max);
  double sum = 0.0;
  for (int64_t c = 0; c < n_classes; c += kLanes) {
    const int n = static_cast<int>(n_classes - c < kLanes ? n_classes - c : kLanes);
    float lanes[kLanes];
    Store(lanes, Exp(LoadFirst(logits + c, n) - max));
    for (int k = 0; k < n; ++k) sum += static_cast<double>(lanes[k]);
    StoreFirst(logits + c, Load(lanes), n);
  }
  const float factor = static_cast<float>(1.0 / sum) * scale;
  for (int64_t c = 0; c < n_classes; ++c) logits[c] *= factor;
  // Computing p − 1 of the true class from the other classes loses no digits when p is near 1.
  logits[label] -= scale;
  return std::log(sum) - true_logit;
}

}  // namespace TW_ISA
}  // namespace topwork
