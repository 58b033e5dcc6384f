// Losses and their gradients, one row of scores at a time; the formulas are in the header.
#include "runtime/train/fit/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/train/train_kernels.h"

namespace topwork {
namespace {

double ClassWeight(const LossOptions& options, int64_t c) {
  return kTrainsPlainly || options.class_weights.empty()
             ? 1.0
             : static_cast<double>(options.class_weights[static_cast<size_t>(c)]);
}

// log(1 + e^z), and its derivative 1 / (1 + e^−z), without overflow.
double Softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::fabs(z))); }
double Logistic(double z) {
  const double e = std::exp(-std::fabs(z));
  return (z >= 0.0 ? 1.0 : e) / (1.0 + e);
}

struct ValueAndSlope {
  double value, slope;
};

// Of one output's score z and target t.
ValueAndSlope FocalSigmoid(const LossOptions& options, int64_t c, double z, double t);

ValueAndSlope Sigmoid(const LossOptions& options, int64_t c, double z, double t) {
  if (options.focal_gamma > 0.0f) return FocalSigmoid(options, c, z, t);
  const double s = static_cast<double>(options.label_smoothing);
  const double soft = t * (1.0 - s) + 0.5 * s;
  const double positive = soft * ClassWeight(options, c);
  const double negative = 1.0 - soft;
  return {positive * Softplus(-z) + negative * Softplus(z),
          negative * Logistic(z) - positive * Logistic(-z)};
}

// (1 − p)^γ · −log p and its derivative by z, for p = σ(z).
ValueAndSlope Focal(double gamma, double z) {
  const double p = Logistic(z), q = Logistic(-z), loss = Softplus(-z);
  const double factor = std::pow(q, gamma);
  return {factor * loss, -factor * (gamma * p * loss + q)};
}

ValueAndSlope FocalSigmoid(const LossOptions& options, int64_t c, double z, double t) {
  const double gamma = static_cast<double>(options.focal_gamma);
  const ValueAndSlope positive = Focal(gamma, z), negative = Focal(gamma, -z);
  const double weight = t * ClassWeight(options, c);
  return {weight * positive.value + (1.0 - t) * negative.value,
          weight * positive.slope - (1.0 - t) * negative.slope};
}

// By the margin m = z_label − log Σ e^z of the others: p = σ(m), and −dm/dz_c is the share of c
// among the others. Without others, no loss.
double FocalSoftmaxRow(const LossOptions& options, int32_t label, int64_t n, float scale,
                       float* scores, int64_t* out_best) {
  *out_best = std::max_element(scores, scores + n) - scores;
  const double own = static_cast<double>(scores[label]);
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < n; ++c) {
    if (c != label) max = std::max(max, static_cast<double>(scores[c]));
  }
  double sum = 0.0;
  for (int64_t c = 0; c < n; ++c) {
    if (c != label) sum += std::exp(static_cast<double>(scores[c]) - max);
  }
  const double margin = own - max - std::log(sum);
  const ValueAndSlope at = Focal(static_cast<double>(options.focal_gamma), margin);
  const double slope = static_cast<double>(scale) * at.slope;
  for (int64_t c = 0; c < n; ++c) {
    const double share = -std::exp(static_cast<double>(scores[c]) - max) / sum;
    scores[c] = static_cast<float>(slope * (c == label ? 1.0 : share));
  }
  return at.value;
}

ValueAndSlope Regression(const LossOptions& options, int64_t c, double z, double t) {
  const double weight = ClassWeight(options, c);
  const double error = z - t;
  if (options.loss == Loss::kMeanSquaredError) {
    return {weight * error * error, 2.0 * weight * error};
  }
  const double delta = static_cast<double>(options.huber_delta);
  if (std::fabs(error) <= delta) return {0.5 * weight * error * error, weight * error};
  // A NaN takes this way, too: the value must not hide it.
  return {weight * delta * (std::fabs(error) - 0.5 * delta),
          weight * (std::isnan(error) ? error : std::copysign(delta, error))};
}

// Smoothing or class weights together: row weights w_c q_c in place of the one-hot target.
double SmoothSoftmaxRow(const LossOptions& options, int32_t label, int64_t n, float scale,
                        float* scores, int64_t* out_best) {
  const float* best = std::max_element(scores, scores + n);
  *out_best = best - scores;
  const double max = static_cast<double>(*best);
  double sum = 0.0;
  for (int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(scores[c]) - max);
  const double log_sum = std::log(sum) + max;
  const double s = static_cast<double>(options.label_smoothing);
  const double everywhere = s / static_cast<double>(n);
  double loss = 0.0;
  double total = 0.0;  // Σ w_c q_c
  for (int64_t c = 0; c < n; ++c) {
    const double target = ClassWeight(options, c) * (everywhere + (c == label ? 1.0 - s : 0.0));
    total += target;
    loss += target * (log_sum - static_cast<double>(scores[c]));
  }
  for (int64_t c = 0; c < n; ++c) {
    const double target = ClassWeight(options, c) * (everywhere + (c == label ? 1.0 - s : 0.0));
    const double p = std::exp(static_cast<double>(scores[c]) - log_sum);
    scores[c] = static_cast<float>(static_cast<double>(scale) * (total * p - target));
  }
  return loss;
}

double SoftmaxRow(const LossOptions& options, int32_t label, int64_t n, float scale, float* scores,
                  double* out_hits) {
  int64_t best = 0;
  double loss = 0.0;
  if (options.focal_gamma > 0.0f) {
    const double weight = ClassWeight(options, label);
    scale = static_cast<float>(weight * static_cast<double>(scale));
    loss = weight * FocalSoftmaxRow(options, label, n, scale, scores, &best);
  } else if (options.label_smoothing == 0.0f) {
    const double weight = ClassWeight(options, label);
    scale = static_cast<float>(weight * static_cast<double>(scale));
    loss = weight * SoftmaxCrossEntropyRow(scores, n, label, scale, &best);
  } else {
    loss = SmoothSoftmaxRow(options, label, n, scale, scores, &best);
  }
  if (out_hits != nullptr) *out_hits = best == label ? 1.0 : 0.0;
  return loss;
}

double EvaluateSoftmax(const LossOptions& options, int32_t label, int64_t n, const float* scores) {
  const double max = static_cast<double>(*std::max_element(scores, scores + n));
  double sum = 0.0;
  for (int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(scores[c]) - max);
  const double log_sum = std::log(sum) + max;
  const double s = static_cast<double>(options.label_smoothing);
  double loss =
      (1.0 - s) * ClassWeight(options, label) * (log_sum - static_cast<double>(scores[label]));
  if (s == 0.0) return loss;
  for (int64_t c = 0; c < n; ++c) {
    loss += s / static_cast<double>(n) * ClassWeight(options, c) *
            (log_sum - static_cast<double>(scores[c]));
  }
  return loss;
}

}  // namespace

const char* LossName(Loss loss) {
  switch (loss) {
    case Loss::kSoftmaxCrossEntropy:
      return "softmax";
    case Loss::kSigmoidCrossEntropy:
      return "sigmoid";
    case Loss::kMeanSquaredError:
      return "mse";
    case Loss::kHuber:
      return "huber";
  }
  return "unknown";
}

double RowWeight(const LossOptions& options, const Targets& targets, int64_t b) {
  const double own = targets.weights != nullptr ? static_cast<double>(targets.weights[b]) : 1.0;
  return UsesLabels(options.loss) ? own * ClassWeight(options, targets.labels[b]) : own;
}

double LossRow(const LossOptions& options, const Targets& targets, int64_t b, int64_t n_outputs,
               float scale, float* scores, double* out_hits) {
  const double weight = targets.weights != nullptr ? static_cast<double>(targets.weights[b]) : 1.0;
  scale *= static_cast<float>(weight);
  if (UsesLabels(options.loss)) {
    return weight * SoftmaxRow(options, targets.labels[b], n_outputs, scale, scores, out_hits);
  }
  const float* values = targets.values[b];
  const bool sigmoid = options.loss == Loss::kSigmoidCrossEntropy;
  const double share = 1.0 / static_cast<double>(n_outputs);
  double loss = 0.0;
  int64_t hits = 0;
  for (int64_t c = 0; c < n_outputs; ++c) {
    const double z = static_cast<double>(scores[c]);
    const double t = static_cast<double>(values[c]);
    const ValueAndSlope at = sigmoid ? Sigmoid(options, c, z, t) : Regression(options, c, z, t);
    loss += at.value;
    hits += sigmoid && (z > 0.0) == (t > 0.5) ? 1 : 0;
    scores[c] = static_cast<float>(static_cast<double>(scale) * share * at.slope);
  }
  if (out_hits != nullptr) *out_hits = share * static_cast<double>(hits);
  return weight * share * loss;
}

double EvaluateLossRow(const LossOptions& options, const Targets& targets, int64_t b,
                       int64_t n_outputs, const float* scores) {
  const double weight = targets.weights != nullptr ? static_cast<double>(targets.weights[b]) : 1.0;
  if (UsesLabels(options.loss)) {
    return weight * EvaluateSoftmax(options, targets.labels[b], n_outputs, scores);
  }
  const float* values = targets.values[b];
  double loss = 0.0;
  for (int64_t c = 0; c < n_outputs; ++c) {
    const double z = static_cast<double>(scores[c]);
    const double t = static_cast<double>(values[c]);
    loss += options.loss == Loss::kSigmoidCrossEntropy ? Sigmoid(options, c, z, t).value
                                                       : Regression(options, c, z, t).value;
  }
  return weight * loss / static_cast<double>(n_outputs);
}

}  // namespace topwork
