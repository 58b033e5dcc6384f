// L-BFGS: the two-loop recursion over the last pairs of steps and gradient changes (Nocedal and
// Wright, Numerical Optimization, algorithms 7.4 and 7.5).
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/train/fit/line_search.h"
#include "runtime/train/fit/solvers.h"
#include "runtime/train/head/trainable.h"

namespace topwork {
namespace {

// State: these numbers, then x, the gradient, and step and change of every pair.
enum StateField {
  kSize,
  kIterations,
  kEvaluations,
  kConverged,
  kValue,
  kMaxGradient,
  kHasGradient,
  kNumPairs,
  kNumFields
};

double MaxAbs(const std::vector<float>& values) {
  float largest = 0.0f;
  for (float value : values) largest = std::max(largest, std::fabs(value));
  return static_cast<double>(largest);
}

bool IsCount(double value, double limit) {
  return value >= 0.0 && value <= limit && value == std::floor(value);
}

void Append(const std::vector<float>& values, std::vector<double>* out) {
  out->insert(out->end(), values.begin(), values.end());
}

std::vector<float> Take(const double** next, size_t n) {
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(*(*next)++);
  return values;
}

}  // namespace

Lbfgs::Lbfgs(const LbfgsOptions& options, std::vector<float> start)
    : options_(options), x_(std::move(start)) {}

size_t Lbfgs::bytes() const {
  return (x_.size() + gradient_.size() + 2 * pairs_.size() * x_.size()) * sizeof(float);
}

Status Lbfgs::Start(const Objective& objective) {
  std::vector<float> gradient(x_.size());
  double value = 0.0;
  ++evaluations_;
  TW_RETURN_IF_ERROR(objective(x_, &value, gradient));
  if (!std::isfinite(value) || !AllFinite(gradient)) {
    return NumericError(
        "L-BFGS cannot start: the {} is not finite at the starting point (scale the features down "
        "or start from zeros)",
        std::isfinite(value) ? "gradient" : "loss");
  }
  value_ = value;
  gradient_ = std::move(gradient);
  max_gradient_ = MaxAbs(gradient_);
  return Status::Ok();
}

// −H · gradient, with H the inverse Hessian as the pairs have seen it.
void Lbfgs::FindDirection(std::vector<double>* direction) const {
  const size_t n = x_.size();
  direction->resize(n);
  for (size_t i = 0; i < n; ++i) (*direction)[i] = -static_cast<double>(gradient_[i]);
  const auto add = [&](double factor, const std::vector<float>& vector) {
    for (size_t i = 0; i < n; ++i) (*direction)[i] += factor * static_cast<double>(vector[i]);
  };
  std::vector<double> alpha(pairs_.size());
  for (size_t k = pairs_.size(); k-- > 0;) {
    const Pair& pair = pairs_[k];
    alpha[k] = DotProduct(pair.step.data(), direction->data(), n) / pair.curvature;
    add(-alpha[k], pair.change);
  }
  if (!pairs_.empty()) {
    const Pair& last = pairs_.back();
    const double scale = last.curvature / DotProduct(last.change.data(), last.change.data(), n);
    for (double& d : *direction) d *= scale;
  }
  for (size_t k = 0; k < pairs_.size(); ++k) {
    const Pair& pair = pairs_[k];
    const double beta = DotProduct(pair.change.data(), direction->data(), n) / pair.curvature;
    add(alpha[k] - beta, pair.step);
  }
}

// Keeps the pair that leads to the new point, unless rounding has taken its curvature away.
void Lbfgs::Remember(Span<const float> x, Span<const float> gradient) {
  const size_t n = x_.size();
  Pair pair;
  pair.step.resize(n);
  pair.change.resize(n);
  for (size_t i = 0; i < n; ++i) {
    pair.step[i] = x[i] - x_[i];
    pair.change[i] = gradient[i] - gradient_[i];
  }
  pair.curvature = DotProduct(pair.step.data(), pair.change.data(), n);
  const double squared = DotProduct(pair.change.data(), pair.change.data(), n);
  if (!(pair.curvature > std::numeric_limits<double>::epsilon() * squared)) return;
  if (options_.history <= 0) return;
  while (pairs_.size() >= static_cast<size_t>(options_.history)) pairs_.erase(pairs_.begin());
  pairs_.push_back(std::move(pair));
}

Status Lbfgs::Iterate(const Objective& objective) {
  if (converged_) return Status::Ok();
  if (gradient_.empty()) TW_RETURN_IF_ERROR(Start(objective));
  converged_ = max_gradient_ <= options_.gradient_tolerance;
  if (converged_) return Status::Ok();

  const double negligible = options_.value_tolerance * std::max(1.0, std::fabs(value_));
  LineSearch::Point point;
  bool found = false;
  while (!found) {
    std::vector<double> direction;
    FindDirection(&direction);
    const double slope = DotProduct(gradient_.data(), direction.data(), x_.size());
    if (slope < 0.0 && std::isfinite(slope)) {
      // The first direction has the gradient's length, which says nothing about the distance.
      const double first = pairs_.empty() ? std::min(1.0, 1.0 / std::sqrt(-slope)) : 1.0;
      LineSearch search(objective, x_, value_, direction, slope);
      const Status status = search.Run(first, negligible, &point, &found);
      evaluations_ += search.evaluations();
      TW_RETURN_IF_ERROR(status);
    }
    if (!found && pairs_.empty()) break;
    if (!found) pairs_.clear();  // once more along the gradient itself
  }
  ++iterations_;
  if (!found) {
    converged_ = true;
    return Status::Ok();
  }
  converged_ = value_ - point.value < negligible;
  Remember(point.x, point.gradient);
  x_ = std::move(point.x);
  gradient_ = std::move(point.gradient);
  value_ = point.value;
  max_gradient_ = MaxAbs(gradient_);
  converged_ = converged_ || max_gradient_ <= options_.gradient_tolerance;
  return Status::Ok();
}

std::vector<double> Lbfgs::State() const {
  std::vector<double> state(kNumFields);
  state[kSize] = static_cast<double>(x_.size());
  state[kIterations] = iterations_;
  state[kEvaluations] = evaluations_;
  state[kConverged] = converged_ ? 1.0 : 0.0;
  state[kValue] = value_;
  state[kMaxGradient] = max_gradient_;
  state[kHasGradient] = gradient_.empty() ? 0.0 : 1.0;
  state[kNumPairs] = static_cast<double>(pairs_.size());
  Append(x_, &state);
  Append(gradient_, &state);
  for (const Pair& pair : pairs_) {
    Append(pair.step, &state);
    Append(pair.change, &state);
  }
  return state;
}

Status Lbfgs::SetState(Span<const double> state) {
  const size_t n = x_.size();
  const auto fits = [&] {
    if (state.size() < kNumFields || state[kSize] != static_cast<double>(n)) return false;
    const double max_int = static_cast<double>(std::numeric_limits<int>::max());
    if (!IsCount(state[kIterations], max_int) || !IsCount(state[kEvaluations], max_int) ||
        !IsCount(state[kConverged], 1.0) || !IsCount(state[kHasGradient], 1.0) ||
        !IsCount(state[kNumPairs], std::max(0, options_.history))) {
      return false;
    }
    const size_t n_vectors =
        1 + static_cast<size_t>(state[kHasGradient]) + 2 * static_cast<size_t>(state[kNumPairs]);
    if ((state.size() - kNumFields) / n_vectors != n ||
        (state.size() - kNumFields) % n_vectors != 0) {
      return false;
    }
    const double largest = static_cast<double>(std::numeric_limits<float>::max());
    return std::all_of(state.begin() + kNumFields, state.end(),
                       [&](double v) { return std::fabs(v) <= largest; }) &&
           std::isfinite(state[kValue]) && std::isfinite(state[kMaxGradient]);
  };
  if (!fits()) {
    return InvalidArgument(
        "a state of {} numbers is not one of L-BFGS with {} parameters and a history of {}",
        state.size(), n, options_.history);
  }
  const double* next = state.data() + kNumFields;
  x_ = Take(&next, n);
  gradient_ = state[kHasGradient] != 0.0 ? Take(&next, n) : std::vector<float>();
  pairs_.resize(static_cast<size_t>(state[kNumPairs]));
  for (Pair& pair : pairs_) {
    pair.step = Take(&next, n);
    pair.change = Take(&next, n);
    pair.curvature = DotProduct(pair.step.data(), pair.change.data(), n);
  }
  iterations_ = static_cast<int>(state[kIterations]);
  evaluations_ = static_cast<int>(state[kEvaluations]);
  converged_ = state[kConverged] != 0.0;
  value_ = state[kValue];
  max_gradient_ = state[kMaxGradient];
  return Status::Ok();
}

}  // namespace topwork
