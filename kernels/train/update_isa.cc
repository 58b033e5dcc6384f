// The optimizers' updates, and what they need to know of a gradient, compiled once for each
// instruction set. These are plain loops that the compiler turns into vectors; train_kernels.h has
// the formulas.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/train/isa_functions.h"

namespace topwork {
namespace TW_ISA {
namespace {

// Independent sums of SumSquares: enough to hide the latency of an addition.
constexpr int kSums = 32;

inline float PenaltyGradient(float weight_decay, float l1, float w) {
  const float sign = (w > 0.0f ? 1.0f : 0.0f) - (w < 0.0f ? 1.0f : 0.0f);
  return weight_decay * w + l1 * sign;
}

}  // namespace

float MaxAbs(const float* x, int64_t n) {
  // Without its sign bit, a float compares as its bits do; infinity and NaN come last. An integer
  // maximum stays a vector loop under strict floating-point rules.
  int32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    int32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    largest = std::max(largest, bits & 0x7FFFFFFF);
  }
  if (largest >= 0x7F800000) return std::numeric_limits<float>::infinity();
  float result;
  std::memcpy(&result, &largest, sizeof(result));
  return result;
}

double SumSquares(const float* x, int64_t n) {
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (int j = 0; j < kSums; ++j) {
      const double value = static_cast<double>(x[i + j]);
      sums[j] += value * value;
    }
  }
  for (int j = 0; i < n; ++i, ++j) {
    const double value = static_cast<double>(x[i]);
    sums[j] += value * value;
  }
  double total = 0.0;
  for (double sum : sums) total += sum;
  return total;
}

void Scale(float factor, int64_t n, float* x) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

void Sgd(const SgdStep& step, int64_t n, const float* gradient, float* velocity,
         float* parameters) {
  const SgdStep s = step;
  if (s.momentum == 0.0f) {
    for (int64_t i = 0; i < n; ++i) {
      const float w = parameters[i];
      const float g = gradient[i] + PenaltyGradient(s.weight_decay, s.l1, w);
      parameters[i] = w - s.learning_rate * g;
    }
    return;
  }
  const float ahead = s.nesterov ? s.momentum : 1.0f;  // of the velocity, in the update
  const float direct = s.nesterov ? 1.0f : 0.0f;       // of the gradient
  for (int64_t i = 0; i < n; ++i) {
    const float w = parameters[i];
    const float g = gradient[i] + PenaltyGradient(s.weight_decay, s.l1, w);
    velocity[i] = s.momentum * velocity[i] + g;
    parameters[i] = w - s.learning_rate * (direct * g + ahead * velocity[i]);
  }
}

void Adam(const AdamStep& step, int64_t n, const float* gradient, float* m, float* v,
          float* parameters) {
  const AdamStep s = step;
  for (int64_t i = 0; i < n; ++i) {
    const float w = parameters[i];
    const float g = gradient[i] + PenaltyGradient(s.weight_decay, s.l1, w);
    m[i] = s.beta1 * m[i] + (1.0f - s.beta1) * g;
    v[i] = s.beta2 * v[i] + (1.0f - s.beta2) * g * g;
    const float mean = m[i] * s.correction1;
    const float deviation = std::sqrt(v[i] * s.correction2) + s.epsilon;
    parameters[i] = s.keep * w - s.learning_rate * mean / deviation;
  }
}

}  // namespace TW_ISA
}  // namespace topwork
