// Softmax cross-entropy and its gradient by log-sum-exp, and moments of scores; compiled once for each
// instruction set because of the exponentials. SoftmaxCrossEntropyRow is the same in portable code.
//
// Rows of few classes lie side by side, a row to a lane: a lane's result does not depend on the others.
#include <cmath>

#include "kernels/cpu/vector_math.h"
#include "kernels/train/doubles.h"
#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {

namespace {

constexpr int64_t kFewClasses = 32;

// Rows [row, row + kLanes) of `logits` as columns of x [n_classes, kLanes]; rows past the end are the
// last one again.
void Gather(const float* logits, int64_t row, int64_t n_rows, int64_t n_classes, float* x) {
  for (int l = 0; l < kLanes; ++l) {
    const int64_t from = row + l < n_rows ? row + l : n_rows - 1;
    for (int64_t c = 0; c < n_classes; ++c) x[c * kLanes + l] = logits[from * n_classes + c];
  }
}

// The largest score of each lane, and where it is first.
Vec Largest(const float* x, int64_t n_classes, Vec* out_best) {
  Vec max = Load(x);
  Vec best = Vec{};
  for (int64_t c = 1; c < n_classes; ++c) {
    const Vec v = Load(x + c * kLanes);
    best = v > max ? Splat(static_cast<float>(c)) : best;
    max = v > max ? v : max;
  }
  *out_best = best;
  return max;
}

double ManyClasses(float* logits, int64_t n_classes, int32_t label, float scale,
                   int32_t* out_best) {
  int64_t best = 0;
  for (int64_t c = 1; c < n_classes; ++c) {
    if (logits[c] > logits[best]) best = c;
  }
  *out_best = static_cast<int32_t>(best);
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

// As ManyClasses for the rows from `row` on, at most kLanes.
void FewClasses(const SoftmaxStep& step, int64_t row) {
  const int64_t n_classes = step.n_classes;
  const int n = static_cast<int>(step.n_rows - row < kLanes ? step.n_rows - row : kLanes);
  float x[kFewClasses * kLanes];
  Gather(step.logits, row, step.n_rows, n_classes, x);
  Vec best;
  const Vec max = Largest(x, n_classes, &best);
  double true_logits[kLanes];
  for (int l = 0; l < n; ++l) {
    const float logit = x[step.labels[row + l] * kLanes + l];
    true_logits[l] = static_cast<double>(logit) - static_cast<double>(max[l]);
  }
  constexpr int kParts = kLanes / kDoubles;
  Doubles lanes[kParts] = {};
  for (int64_t c = 0; c < n_classes; ++c) {
    float* const of_class = x + c * kLanes;
    Store(of_class, Exp(Load(of_class) - max));
    for (int k = 0; k < kParts; ++k) lanes[k] += Widen(of_class + k * kDoubles);
  }
  double sums[kLanes];
  for (int k = 0; k < kParts; ++k) Store(sums + k * kDoubles, lanes[k]);
  float factors[kLanes] = {};
  for (int l = 0; l < n; ++l) {
    factors[l] = static_cast<float>(1.0 / sums[l]) * step.scales[row + l];
  }
  for (int64_t c = 0; c < n_classes; ++c) {
    Store(x + c * kLanes, Load(x + c * kLanes) * Load(factors));
  }
  for (int l = 0; l < n; ++l) {
    float* to = step.logits + (row + l) * n_classes;
    for (int64_t c = 0; c < n_classes; ++c) to[c] = x[c * kLanes + l];
    to[step.labels[row + l]] -= step.scales[row + l];
    step.losses[row + l] = std::log(sums[l]) - true_logits[l];
    step.best[row + l] = static_cast<int32_t>(best[l]);
  }
}

// Moments of d = z − max with the weights e^(beta · d): Σ 1, Σ d, Σ d², and max.
void RowMoments(const float* z, int64_t n_classes, float beta, SoftmaxMoments* out) {
  float max = z[0];
  for (int64_t c = 1; c < n_classes; ++c) max = z[c] > max ? z[c] : max;
  Vec sums[3];
  for (Vec& sum : sums) sum = Vec{};
  for (int64_t c = 0; c < n_classes; c += kLanes) {
    const int n = static_cast<int>(n_classes - c < kLanes ? n_classes - c : kLanes);
    const Vec d = LoadFirst(z + c, n) - max;
    float lanes[kLanes] = {};
    StoreFirst(lanes, Exp(d * beta), n);
    const Vec p = Load(lanes);
    sums[0] += p;
    sums[1] += p * d;
    sums[2] += p * d * d;
  }
  *out = {0.0, 0.0, 0.0, max};
  for (int l = 0; l < kLanes; ++l) {
    out->sum += static_cast<double>(sums[0][l]);
    out->first += static_cast<double>(sums[1][l]);
    out->second += static_cast<double>(sums[2][l]);
  }
}

}  // namespace

void SoftmaxCrossEntropy(const SoftmaxStep& step) {
  if (step.n_classes <= kFewClasses) {
    for (int64_t row = 0; row < step.n_rows; row += kLanes) FewClasses(step, row);
    return;
  }
  for (int64_t b = 0; b < step.n_rows; ++b) {
    step.losses[b] = ManyClasses(step.logits + b * step.n_classes, step.n_classes, step.labels[b],
                                 step.scales[b], step.best + b);
  }
}

void MomentsOfSoftmax(const float* logits, int64_t n_rows, int64_t n_classes, float beta,
                      SoftmaxMoments* out) {
  for (int64_t b = 0; b < n_rows && n_classes > kFewClasses; ++b) {
    RowMoments(logits + b * n_classes, n_classes, beta, out + b);
  }
  for (int64_t row = 0; row < n_rows && n_classes <= kFewClasses; row += kLanes) {
    float x[kFewClasses * kLanes];
    Gather(logits, row, n_rows, n_classes, x);
    Vec best;
    const Vec max = Largest(x, n_classes, &best);
    Vec sum = Vec{}, first = Vec{}, second = Vec{};
    for (int64_t c = 0; c < n_classes; ++c) {
      const Vec d = Load(x + c * kLanes) - max;
      const Vec p = Exp(d * beta);
      sum += p;
      first += p * d;
      second += p * d * d;
    }
    for (int l = 0; l < kLanes && row + l < n_rows; ++l) {
      out[row + l] = {static_cast<double>(sum[l]), static_cast<double>(first[l]),
                      static_cast<double>(second[l]), max[l]};
    }
  }
}

}  // namespace TW_ISA
}  // namespace topwork
