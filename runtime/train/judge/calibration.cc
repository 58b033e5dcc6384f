// Temperature scaling: the root of the derivative of the mean cross-entropy with respect to 1 / T.
//
//   softmax   f(β) = mean_b log Σ_c exp(β z_c) − β z_y;   f' = E_p[z] − z_y,   f'' = Var_p[z]
//   sigmoid   f(β) = mean_bc log(1 + exp(β z)) − β t z;   f' = (p − t) z,      f'' = p (1 − p) z²
#include "runtime/train/judge/calibration.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/train/train_kernels.h"
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
  bool rough = false;  // exponentials in float32
};

// Below it exponentials in float32 would show.
constexpr double kRoughTolerance = 1e-6;
constexpr int64_t kRoughRows = 64;

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

// The sum over all rows of SoftmaxRow.
Point RoughSum(const CalibrationProblem& problem, double beta) {
  const TrainKernels& kernels = TrainKernelsFor(BestCpuKernels());
  SoftmaxMoments moments[kRoughRows];
  Point total;
  for (int64_t first = 0; first < problem.n; first += kRoughRows) {
    const int64_t n = std::min(kRoughRows, problem.n - first);
    const float* z = problem.logits + first * problem.n_outputs;
    kernels.softmax_moments(z, n, problem.n_outputs, static_cast<float>(beta), moments);
    for (int64_t b = 0; b < n; ++b, z += problem.n_outputs) {
      const SoftmaxMoments& row = moments[b];
      const double mean = row.first / row.sum;
      const double of_label =
          static_cast<double>(z[problem.targets.labels[first + b]]) - static_cast<double>(row.max);
      total.value += std::log(row.sum) - beta * of_label;
      total.slope += mean - of_label;
      total.curvature += row.second / row.sum - mean * mean;
    }
  }
  return total;
}

Point At(const CalibrationProblem& problem, double beta) {
  Point sum;
  const bool rough = problem.rough && UsesLabels(problem.loss);
  if (rough) sum = RoughSum(problem, beta);
  for (int64_t b = 0; b < problem.n && !rough; ++b) {
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

// The way from a point to the slope's zero. Where examples are nearly all right the slope nears zero as
// an exponential of β does, and Newton's steps stay short: two curvatures tell the exponential's rate.
double StepFrom(const Point& point, double rate) {
  const double newton = -point.slope / point.curvature;
  const double share = rate * newton;
  return std::fabs(share) > 1e-6 ? -std::log1p(-share) / rate : newton;
}

// The zero of the slope by such steps from 1 on. The ends of the bracket are looked at where a step
// leads beyond them.
Temperature FindRoot(const CalibrationProblem& problem, double tolerance) {
  double low = 1.0 / kMaxTemperature;
  double high = 1.0 / kMinTemperature;
  bool knows_low = false, knows_high = false;  // that the slope changes its sign before it
  double beta = 1.0;
  double beta_before = 0.0, curvature_before = 0.0;  // of the step before
  for (int i = 0; i < kMaxIterations && high - low > tolerance * high; ++i) {
    const Point point = At(problem, beta);
    if (point.slope == 0.0) break;
    (point.slope < 0.0 ? low : high) = beta;
    (point.slope < 0.0 ? knows_low : knows_high) = true;
    const double rate =
        i == 0 ? 0.0 : std::log(curvature_before / point.curvature) / (beta - beta_before);
    const double wanted = beta + StepFrom(point, rate);
    const bool inside = wanted > low && wanted < high;
    beta_before = beta;
    curvature_before = point.curvature;
    if (!inside && point.slope < 0.0 && !knows_high) {
      if (At(problem, high).slope <= 0.0) return {1.0 / high, true};
      knows_high = true;
    }
    if (!inside && point.slope > 0.0 && !knows_low) {
      if (At(problem, low).slope >= 0.0) return {1.0 / low, true};
      knows_low = true;
    }
    // Not inside the bracket (or not a number): its geometric middle.
    const double next = inside ? wanted : std::sqrt(low * high);
    const bool still = std::fabs(next - beta) <= 0.1 * tolerance * beta;
    beta = next;
    if (still) break;
  }
  return {1.0 / beta, false};
}

double CalibrationError(const CalibrationProblem& problem, double beta) {
  const LossOptions options{problem.loss, 0.0f, 1.0f, {}};
  const int n = static_cast<int>(problem.n_outputs);
  MetricsCollector collector(options, n, 5, MetricsCollector::Keeps::kSums);
  std::vector<float> scaled(static_cast<size_t>(problem.n_outputs));
  for (int64_t b = 0; b < problem.n; ++b) {
    const float* z = problem.logits + b * problem.n_outputs;
    for (size_t c = 0; c < scaled.size(); ++c) {
      scaled[c] = static_cast<float>(static_cast<double>(z[c]) * beta);
    }
    collector.Add(scaled.data(), problem.targets, b);
  }
  return collector.calibration_error();
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
  return FindRoot({loss, logits, targets, n, n_outputs, tolerance >= kRoughTolerance}, tolerance);
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
