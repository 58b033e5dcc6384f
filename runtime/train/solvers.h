// Solvers that need no learning rate: L-BFGS, ridge regression, and nearest-mean imprinting.
#ifndef TOPWORK_RUNTIME_TRAIN_SOLVERS_H_
#define TOPWORK_RUNTIME_TRAIN_SOLVERS_H_

#include <functional>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

// Value and gradient of a function at x, both of x's size; the status ends the minimisation.
using Objective =
    std::function<Status(Span<const float> x, double* out_value, Span<float> out_gradient)>;

struct LbfgsOptions {
  int max_iterations = 100;
  int history = 10;                  // pairs kept
  double gradient_tolerance = 1e-5;  // stop when max |g| is at most this
  double value_tolerance = 1e-9;  // stop when the value falls by less than this × max(1, |value|)
};

struct LbfgsResult {
  int iterations = 0;
  int evaluations = 0;
  double value = 0.0;
  double max_gradient = 0.0;
  bool converged = false;
};

// Minimises from *x by L-BFGS with a line search to the strong Wolfe conditions (Nocedal and
// Wright, Numerical Optimization, algorithms 7.5 and 3.5). Directions in double precision. On
// failure x is the best point so far; NUMERIC when the objective is not finite at the start.
// on_iteration (may be null) gets the number of iterations done and the value; false stops with OK.
Status MinimizeLbfgs(const Objective& objective, const LbfgsOptions& options,
                     const std::function<bool(int, double)>& on_iteration, std::vector<float>* x,
                     LbfgsResult* out);

// Weights [n_outputs, dim] and bias [n_outputs] that minimise ½ Σ_b s_b |W x_b + c − t_b|² + ½ l2
// |W|² (the bias is not penalised), in closed form: centred normal equations by Cholesky in double
// precision, through the smaller of the dim × dim and n × n systems. `sample_weights` [n] or empty.
// INVALID_ARGUMENT for l2 < 0; NUMERIC when the system is singular (give an l2 above 0).
Status SolveRidge(const float* const* rows, const float* const* targets,
                  Span<const float> sample_weights, int64_t n, int64_t dim, int64_t n_outputs,
                  double l2, ThreadPool* pool, float* weights, float* bias);

// A class's row by imprinting (Qi et al. 2018): the mean of the normalised rows, normalised again,
// times `norm`; `weights` gets dim floats. NUMERIC when the mean is zero.
Status ImprintRow(const float* const* rows, int64_t n, int64_t dim, double norm, float* weights);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_SOLVERS_H_
