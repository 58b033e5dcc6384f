// LineSearch: a point along a direction that meets the strong Wolfe conditions (Nocedal and Wright,
// Numerical Optimization, algorithms 3.5 and 3.6, with cubic interpolation).
//
//   value(t) ≤ value(0) + c1 · t · slope(0)   and   |slope(t)| ≤ c2 · |slope(0)|
// Points are float32, everything else is double precision. A point that is not finite counts as
// infinitely high.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_LINE_SEARCH_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_LINE_SEARCH_H_

#include <vector>

#include "runtime/train/fit/solvers.h"

namespace topwork {

// Σ a_i b_i in a fixed order with independent partial sums.
double DotProduct(const float* a, const double* b, size_t n);
double DotProduct(const float* a, const float* b, size_t n);

class LineSearch {
 public:
  struct Point {
    double t = 0.0;  // along the direction
    double value = 0.0;
    double slope = 0.0;
    std::vector<float> x, gradient;
  };

  // Everything is borrowed. slope < 0 is that of `direction` at `start`.
  LineSearch(const Objective& objective, const std::vector<float>& start, double value,
             const std::vector<double>& direction, double slope)
      : objective_(objective), start_(start), direction_(direction), value_(value), slope_(slope) {}

  // Looks from t > 0 on; gains below `negligible` are not looked for. *out_found is false when no
  // lower point was met; otherwise *out is the best one, which nearly always meets both conditions.
  // Fails with the objective's status, unless that is NUMERIC.
  Status Run(double t, double negligible, Point* out, bool* out_found);
  int evaluations() const { return evaluations_; }

 private:
  Status Evaluate(double t, Point* out);
  Status Zoom(Point* low, Point* high, double negligible);
  bool TooHigh(const Point& point, const Point& low) const;
  bool IsFlat(const Point& point) const;

  const Objective& objective_;
  const std::vector<float>& start_;
  const std::vector<double>& direction_;
  const double value_;
  const double slope_;
  int evaluations_ = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_LINE_SEARCH_H_
