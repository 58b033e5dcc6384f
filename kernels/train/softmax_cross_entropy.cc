// Softmax cross-entropy and its gradient, one row at a time, by log-sum-exp.
#include <algorithm>
#include <cmath>

#include "kernels/train/train_kernels.h"

namespace topwork {

double SoftmaxCrossEntropyRow(float* logits, int64_t n_classes, int32_t label, float scale,
                              int64_t* out_best) {
  const float* best = std::max_element(logits, logits + n_classes);
  *out_best = best - logits;
  const float max = *best;
  const double true_logit = static_cast<double>(logits[label]) - static_cast<double>(max);
  double sum = 0.0;
  for (int64_t c = 0; c < n_classes; ++c) {
    logits[c] = std::exp(logits[c] - max);
    sum += static_cast<double>(logits[c]);
  }
  const float inverse = static_cast<float>(1.0 / sum);
  for (int64_t c = 0; c < n_classes; ++c) logits[c] *= inverse * scale;
  // p − 1 of the true class from the other side of the sum loses nothing when p is near 1.
  logits[label] -= scale;
  return std::log(sum) - true_logit;
}

}  // namespace topwork
