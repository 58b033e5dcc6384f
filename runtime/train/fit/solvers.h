// Solvers that need no learning rate: L-BFGS, ridge regression, and nearest-mean imprinting.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_SOLVERS_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_SOLVERS_H_

#include <functional>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

class DeviceProducts;

// Value and gradient of a function at x, both of x's size; the status ends the minimisation.
using Objective =
    std::function<Status(Span<const float> x, double* out_value, Span<float> out_gradient)>;

struct LbfgsOptions {
  int history = 10;                  // pairs kept
  double gradient_tolerance = 1e-5;  // converged when max |g| is at most this
  double value_tolerance = 1e-9;     // or when the value falls by less than this × max(1, |value|)
};

// L-BFGS with a line search to the strong Wolfe conditions (Nocedal and Wright, Numerical
// Optimization, algorithms 7.5 and 3.5), one iteration at a time, in double precision where it
// matters. Deterministic: an object filled by SetState goes on exactly as the one that State came
// from.
class Lbfgs {
 public:
  Lbfgs(const LbfgsOptions& options, std::vector<float> start);

  // One iteration: a direction, a line search, the new point; nothing once converged. NUMERIC, with
  // x() as it was, when the objective is not finite at x(). A point of the line search that is not
  // finite, or where the objective says NUMERIC, only shortens the step; any other failure ends the
  // iteration with the objective's status and x() as it was. When float32 has no better point,
  // the search has converged, too.
  Status Iterate(const Objective& objective);
  const std::vector<float>& x() const { return x_; }
  double value() const { return value_; }                // at x(), after the first iteration
  double max_gradient() const { return max_gradient_; }  // likewise
  int iterations() const { return iterations_; }
  int evaluations() const { return evaluations_; }
  bool converged() const { return converged_; }
  size_t bytes() const;  // of the state; an iteration needs two points more

  // All that the next iteration depends on, x() and the gradient included, as plain numbers for a
  // checkpoint. SetState: INVALID_ARGUMENT when they do not fit the number of parameters.
  std::vector<double> State() const;
  Status SetState(Span<const double> state);

 private:
  struct Pair {
    std::vector<float> step, change;  // of x and of the gradient
    double curvature = 0.0;           // their dot product
  };
  Status Start(const Objective& objective);
  void FindDirection(std::vector<double>* direction) const;
  void Remember(Span<const float> x, Span<const float> gradient);

  LbfgsOptions options_;
  std::vector<float> x_;
  std::vector<float> gradient_;  // empty before the first iteration
  std::vector<Pair> pairs_;      // the oldest first
  double value_ = 0.0;
  double max_gradient_ = 0.0;
  int iterations_ = 0;
  int evaluations_ = 0;
  bool converged_ = false;
};

// Weights [n_outputs, dim] and bias [n_outputs] that minimise ½ Σ_b s_b |W x_b + c − t_b|² + ½ l2
// |W|² (the bias is not penalised), in closed form: centred normal equations by Cholesky in double
// precision, through the smaller of the dim × dim and n × n systems. `sample_weights` [n] or empty.
// `device`: as in AddSquare. INVALID_ARGUMENT for l2 < 0; NUMERIC when the system is singular (give an l2 above 0).
Status SolveRidge(const float* const* rows, const float* const* targets,
                  Span<const float> sample_weights, int64_t n, int64_t dim, int64_t n_outputs,
                  double l2, ThreadPool* pool, float* weights, float* bias,
                  DeviceProducts* device = nullptr);

// Bytes that SolveRidge takes while it runs.
size_t RidgeBytes(int64_t n, int64_t dim, int64_t n_outputs);

// A class's row by imprinting (Qi et al. 2018): the mean of the normalised rows, normalised again,
// times `norm`; `weights` gets dim floats. NUMERIC when the mean is zero.
Status ImprintRow(const float* const* rows, int64_t n, int64_t dim, double norm, float* weights);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_SOLVERS_H_
