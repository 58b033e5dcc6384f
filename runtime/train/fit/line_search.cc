// The strong Wolfe line search: widen until a minimum is bracketed, then narrow the bracket.
#include "runtime/train/fit/line_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace topwork {
namespace {

constexpr double kDecrease = 1e-4;  // c1
constexpr double kFlatness = 0.9;   // c2, as usual for quasi-Newton directions
constexpr int kMaxEvaluations = 24;
constexpr double kLeastWidening = 2.0, kMostWidening = 16.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename A, typename B>
double Dot(const A* a, const B* b, size_t n) {
  constexpr size_t kSums = 8;
  double sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (size_t j = 0; j < kSums; ++j) {
      sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
    }
  }
  for (size_t j = 0; i < n; ++i, ++j) {
    sums[j] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Where the cubic through both ends has its minimum (Nocedal and Wright, equation 3.59), kept away
// from the ends; the middle, or near the low end beside an infinite one, where there is none.
double Interpolate(const LineSearch::Point& a, const LineSearch::Point& b) {
  const double width = b.t - a.t;
  if (!std::isfinite(b.value)) return a.t + 0.1 * width;
  const double d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0.0)) return a.t + 0.5 * width;
  const double d2 = std::copysign(std::sqrt(square), width);
  const double t = b.t - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
  const double share = (t - a.t) / width;
  if (!std::isfinite(share)) return a.t + 0.5 * width;
  return a.t + std::min(0.9, std::max(0.1, share)) * width;
}

// By what to go on from b, which lies behind a and still falls: to where the line through both slopes
// is zero, within limits.
double Widening(const LineSearch::Point& a, const LineSearch::Point& b) {
  const double bend = b.slope - a.slope;
  if (!(bend > 0.0)) return kLeastWidening;
  const double t = b.t - (b.t - a.t) * b.slope / bend;
  return std::min(kMostWidening, std::max(kLeastWidening, t / b.t));
}

}  // namespace

double DotProduct(const float* a, const double* b, size_t n) { return Dot(a, b, n); }
double DotProduct(const float* a, const float* b, size_t n) { return Dot(a, b, n); }

Status LineSearch::Evaluate(double t, Point* out) {
  ++evaluations_;
  const size_t n = start_.size();
  out->t = t;
  out->x.resize(n);
  out->gradient.resize(n);
  for (size_t i = 0; i < n; ++i) {
    out->x[i] = static_cast<float>(static_cast<double>(start_[i]) + t * direction_[i]);
  }
  const Status status = objective_(out->x, &out->value, out->gradient);
  if (!status.ok() && status.code() != StatusCode::kNumeric) return status;
  out->slope = status.ok() ? Dot(out->gradient.data(), direction_.data(), n) : 0.0;
  if (!status.ok() || !std::isfinite(out->value) || !std::isfinite(out->slope)) {
    out->value = kInfinity;
    out->slope = 0.0;
  }
  return Status::Ok();
}

bool LineSearch::TooHigh(const Point& point, const Point& low) const {
  return !(point.value <= value_ + kDecrease * point.t * slope_) || point.value >= low.value;
}

bool LineSearch::IsFlat(const Point& point) const {
  return std::fabs(point.slope) <= -kFlatness * slope_;
}

// Narrows the bracket; the result is *low. Of *high only t, value and slope are looked at.
Status LineSearch::Zoom(Point* low, Point* high, double negligible) {
  Point point;
  while (evaluations_ < kMaxEvaluations) {
    const double width = std::fabs(high->t - low->t);
    if (width * std::fabs(low->slope) < negligible) break;
    TW_RETURN_IF_ERROR(Evaluate(Interpolate(*low, *high), &point));
    if (TooHigh(point, *low)) {
      std::swap(*high, point);
      continue;
    }
    const bool done = IsFlat(point);
    if (point.slope * (high->t - low->t) >= 0.0) std::swap(*high, *low);
    std::swap(*low, point);
    if (done) break;
  }
  return Status::Ok();
}

Status LineSearch::Run(double t, double negligible, Point* out, bool* out_found) {
  Point before;
  before.value = value_;
  before.slope = slope_;
  Point point;
  while (evaluations_ < kMaxEvaluations) {
    TW_RETURN_IF_ERROR(Evaluate(t, &point));
    if (TooHigh(point, before)) {
      TW_RETURN_IF_ERROR(Zoom(&before, &point, negligible));
      break;
    }
    std::swap(before, point);  // `before` is now the best, `point` the one ahead of it
    if (IsFlat(before)) break;
    if (before.slope >= 0.0) {
      TW_RETURN_IF_ERROR(Zoom(&before, &point, negligible));
      break;
    }
    t *= Widening(point, before);
  }
  *out_found = before.t > 0.0 && before.value < value_;
  if (*out_found) *out = std::move(before);
  return Status::Ok();
}

}  // namespace topwork
