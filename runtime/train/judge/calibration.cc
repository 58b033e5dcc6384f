// Temperature scaling: the root of the derivative of the mean cross-entropy with respect to 1 / T.
//
//   softmax   f(β) = mean_b log Σ_c exp(β z_c) − β z_y;   f' = E_p[z] − z_y,   f'' = Var_p[z]
//   sigmoid   f(β) = mean_bc log(1 + exp(β z)) − β t z;   f' = (p − t) z,      f'' = p (1 − p) z²
#include "runtime/train/judge/calibration.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/train/judge/metrics.h"

namespace topwork {
namespace {

constexpr int kMaxIterations = 200;

// Value and the first two derivatives by β.
struct Point {
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
};

struct CalibrationProblem {
  Loss loss;
  const float* logits;
  const Targets& targets;
  int64_t n;
  int64_t n_outputs;
};

Point SoftmaxRow(const float* z, int64_t n, int32_t label, double beta) {
  const double max = static_cast<double>(*std::max_element(z, z + n));
  // Moments of z − max, so that large logits cancel nothing.
  double sum = 0.0, first = 0.0, second = 0.0;
  for (int64_t c = 0; c < n; ++c) {
    const double d = static_cast<double>(z[c]) - max;
    const double p = std::exp(beta * d);
    sum += p;
    first += p * d;
    second += p * d * d;
  }
  const double mean = first / sum;
  const double of_label = static_cast<double>(z[label]) - max;
  return {std::log(sum) - beta * of_label, mean - of_label, second / sum - mean * mean};
}

Point SigmoidRow(const float* z, int64_t n, const float* targets, double beta) {
  Point point;
  for (int64_t c = 0; c < n; ++c) {
    const double x = static_cast<double>(z[c]);
    const double t = static_cast<double>(targets[c]);
    const double p = 1.0 / (1.0 + std::exp(-beta * x));
    point.value +=
        std::max(beta * x, 0.0) + std::log1p(std::exp(-std::fabs(beta * x))) - beta * t * x;
    point.slope += (p - t) * x;
    point.curvature += p * (1.0 - p) * x * x;
  }
  const double scale = 1.0 / static_cast<double>(n);
  return {point.value * scale, point.slope * scale, point.curvature * scale};
}

Point At(const CalibrationProblem& problem, double beta) {
  Point sum;
  for (int64_t b = 0; b < problem.n; ++b) {
    const float* z = problem.logits + b * problem.n_outputs;
    const Point row = UsesLabels(problem.loss)
                          ? SoftmaxRow(z, problem.n_outputs, problem.targets.labels[b], beta)
                          : SigmoidRow(z, problem.n_outputs, problem.targets.values[b], beta);
    sum.value += row.value;
    sum.slope += row.slope;
    sum.curvature += row.curvature;
  }
  const double scale = 1.0 / static_cast<double>(problem.n);
  return {sum.value * scale, sum.slope * scale, sum.curvature * scale};
}

// The zero of the slope between low and high, where it is negative and positive.
double FindRoot(const CalibrationProblem& problem, double low, double high, double tolerance) {
  double beta = 1.0;
  for (int i = 0; i < kMaxIterations && high - low > tolerance * high; ++i) {
    const Point point = At(problem, beta);
    if (point.slope == 0.0) break;
    (point.slope < 0.0 ? low : high) = beta;
    const double newton = beta - point.slope / point.curvature;
    // Not inside the bracket (or not a number): its geometric middle.
    const double next = newton > low && newton < high ? newton : std::sqrt(low * high);
    const bool still = std::fabs(next - beta) <= 0.1 * tolerance * beta;
    beta = next;
    if (still) break;
  }
  return beta;
}

double CalibrationError(const CalibrationProblem& problem, double beta) {
  const LossOptions options{problem.loss, 0.0f, 1.0f, {}};
  MetricsCollector collector(options, static_cast<int>(problem.n_outputs));
  std::vector<float> scaled(static_cast<size_t>(problem.n_outputs));
  for (int64_t b = 0; b < problem.n; ++b) {
    const float* z = problem.logits + b * problem.n_outputs;
    for (size_t c = 0; c < scaled.size(); ++c) {
      scaled[c] = static_cast<float>(static_cast<double>(z[c]) * beta);
    }
    collector.Add(scaled.data(), problem.targets, b);
  }
  return collector.Finish().calibration_error;
}

}  // namespace

Result<Temperature> FindTemperature(Loss loss, const float* logits, const Targets& targets,
                                    int64_t n, int64_t n_outputs, double tolerance) {
  if (IsRegression(loss)) {
    return InvalidArgument("the temperature of a regression: its outputs are no probabilities");
  }
  if (n < 1) return InvalidArgument("no held-out examples to find a temperature with");
  for (int64_t i = 0; i < n * n_outputs; ++i) {
    if (!std::isfinite(logits[i])) {
      return NumericError("score {} of example {} is not finite", i % n_outputs, i / n_outputs);
    }
  }
  const CalibrationProblem problem{loss, logits, targets, n, n_outputs};
  const double low = 1.0 / kMaxTemperature;
  const double high = 1.0 / kMinTemperature;
  const double slope_low = At(problem, low).slope;
  const double slope_high = At(problem, high).slope;
  // The scores of every example are equal: T changes nothing.
  if (slope_low == 0.0 && slope_high == 0.0) return Temperature{};
  if (slope_high <= 0.0) return Temperature{1.0 / high, true};
  if (slope_low >= 0.0) return Temperature{1.0 / low, true};
  return Temperature{1.0 / FindRoot(problem, low, high, tolerance), false};
}

Result<Calibration> FitTemperature(Loss loss, const float* logits, const Targets& targets,
                                   int64_t n, int64_t n_outputs) {
  TW_ASSIGN_OR_RETURN(const Temperature found,
                      FindTemperature(loss, logits, targets, n, n_outputs, 1e-12));
  const CalibrationProblem problem{loss, logits, targets, n, n_outputs};
  const double beta = 1.0 / found.value;
  Calibration result;
  result.temperature = found.value;
  result.at_bound = found.at_bound;
  result.loss_before = At(problem, 1.0).value;
  result.loss_after = At(problem, beta).value;
  result.error_before = CalibrationError(problem, 1.0);
  result.error_after = CalibrationError(problem, beta);
  return result;
}

}  // namespace topwork
