// Ridge regression in closed form, with X and T the centred rows and targets times √sample_weight:
//
//   primal  (XᵀX + l2·I) Wᵀ = XᵀT           dim ≤ n
//   dual    (XXᵀ + l2·I) A = T, Wᵀ = XᵀA    dim > n
// The system is padded to whole tiles.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/train/fit/products.h"
#include "runtime/train/fit/solvers.h"

namespace topwork {
namespace {

struct RidgeProblem {
  const float* const* rows;
  const float* const* targets;
  int64_t n, dim, n_outputs;
  ThreadPool* pool;
  DeviceProducts* device;
  std::vector<double> roots;  // √sample_weight
  std::vector<double> row_mean, target_mean;

  double x(int64_t b, int64_t d) const {
    const double centred = static_cast<double>(rows[b][d]) - row_mean[static_cast<size_t>(d)];
    return centred * roots[static_cast<size_t>(b)];
  }
  double t(int64_t b, int64_t c) const {
    const double centred = static_cast<double>(targets[b][c]) - target_mean[static_cast<size_t>(c)];
    return centred * roots[static_cast<size_t>(b)];
  }
};

Status CheckArguments(Span<const float> sample_weights, int64_t n, int64_t dim, int64_t n_outputs,
                      double l2) {
  if (n < 1 || dim < 1 || n_outputs < 1) {
    return InvalidArgument("ridge regression of {} outputs on {} examples of {} features",
                           n_outputs, n, dim);
  }
  if (!(l2 >= 0.0 && std::isfinite(l2))) {
    return InvalidArgument("the L2 penalty is {}; it must be at least 0 and finite", l2);
  }
  if (!sample_weights.empty() && sample_weights.size() != static_cast<size_t>(n)) {
    return InvalidArgument("{} sample weights for {} examples", sample_weights.size(), n);
  }
  double total = sample_weights.empty() ? 1.0 : 0.0;
  for (float weight : sample_weights) {
    if (!(weight >= 0.0f && std::isfinite(weight))) {
      return InvalidArgument("a sample weight is {}; it must be at least 0 and finite", weight);
    }
    total += static_cast<double>(weight);
  }
  if (total == 0.0) return InvalidArgument("all sample weights are 0");
  return Status::Ok();
}

Status Means(const float* const* rows, const std::vector<double>& roots, int64_t size,
             const char* what, std::vector<double>* out) {
  out->assign(static_cast<size_t>(size), 0.0);
  double total = 0.0;
  for (size_t b = 0; b < roots.size(); ++b) {
    const double weight = roots[b] * roots[b];
    total += weight;
    bool finite = true;
    for (size_t d = 0; d < out->size(); ++d) {
      finite = finite && std::isfinite(rows[b][d]);
      (*out)[d] += weight * static_cast<double>(rows[b][d]);
    }
    if (!finite) return NumericError("the {} of example {} are not finite", what, b);
  }
  for (double& mean : *out) mean /= total;
  return Status::Ok();
}

// Adds l2 to the diagonal of the first `size` rows, fills up the padding, and solves in place.
Status Solve(double l2, int64_t size, TiledMatrix* system, TiledMatrix* right) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor> a(system->buffer.as<double>(), system->n_rows, system->n_columns);
  double largest = 0.0;
  for (int64_t i = 0; i < size; ++i) largest = std::max(largest, a(i, i) += l2);
  for (int64_t i = size; i < a.rows(); ++i) a(i, i) = largest;
  const char* advice = l2 > 0.0 ? "scale the features down or give a larger L2 penalty"
                                : "give an L2 penalty above 0";
  Eigen::LLT<Eigen::Ref<RowMajor>, Eigen::Lower> factors(a);
  // Below this the digits of the solution are those of rounding errors.
  const double least = static_cast<double>(size) * std::numeric_limits<double>::epsilon();
  if (factors.info() != Eigen::Success || !(factors.rcond() > least)) {
    return NumericError(
        "the ridge system of {} unknowns is singular: features depend on each other ({})", size,
        advice);
  }
  Eigen::Map<Eigen::MatrixXd> b(right->buffer.as<double>(), right->n_columns, right->n_rows);
  factors.solveInPlace(b);
  return Status::Ok();
}

void FillRow(const RidgeProblem& p, int64_t b, int64_t first, int64_t n, double* to) {
  for (int64_t k = 0; k < n; ++k) to[k] = p.x(b, first + k);
}

Status SolvePrimal(const RidgeProblem& p, double l2, TiledMatrix* weights) {
  TiledMatrix system;
  TW_RETURN_IF_ERROR(system.Allocate(p.dim, p.dim, "the ridge system"));
  const auto row = [&](int64_t b, int64_t first, int64_t n, double* to) {
    FillRow(p, b, first, n, to);
  };
  const auto targets = [&](int64_t b, int64_t first, int64_t n, double* to) {
    for (int64_t k = 0; k < n; ++k) to[k] = p.t(b, first + k);
  };
  TW_RETURN_IF_ERROR(AddSquare(p.n, p.dim, row, p.pool, &system, p.device));
  TW_RETURN_IF_ERROR(AddProducts(p.n, p.n_outputs, targets, p.dim, row, p.pool, weights));
  return Solve(l2, p.dim, &system, weights);
}

Status SolveDual(const RidgeProblem& p, double l2, TiledMatrix* weights) {
  TiledMatrix system;
  TiledMatrix a;  // [n_outputs, n]: targets, then the solution
  TW_RETURN_IF_ERROR(system.Allocate(p.n, p.n, "the ridge system"));
  TW_RETURN_IF_ERROR(a.Allocate(p.n_outputs, p.n, "the ridge solution"));
  const auto column = [&](int64_t d, int64_t first, int64_t n, double* to) {
    for (int64_t k = 0; k < n; ++k) to[k] = p.x(first + k, d);
  };
  TW_RETURN_IF_ERROR(AddSquare(p.dim, p.n, column, p.pool, &system, p.device));
  for (int64_t c = 0; c < p.n_outputs; ++c) {
    for (int64_t b = 0; b < p.n; ++b) *a.at(c, b) = p.t(b, c);
  }
  TW_RETURN_IF_ERROR(Solve(l2, p.n, &system, &a));
  const auto solution = [&](int64_t b, int64_t first, int64_t n, double* to) {
    for (int64_t k = 0; k < n; ++k) to[k] = *a.at(first + k, b);
  };
  const auto row = [&](int64_t b, int64_t first, int64_t n, double* to) {
    FillRow(p, b, first, n, to);
  };
  return AddProducts(p.n, p.n_outputs, solution, p.dim, row, p.pool, weights);
}

}  // namespace

size_t RidgeBytes(int64_t n, int64_t dim, int64_t n_outputs) {
  const int64_t unknowns = std::min(n, dim);
  const bool dual = dim > n;
  const int64_t panel = 64;
  const size_t system = TiledMatrix::Bytes(unknowns, unknowns);
  const size_t solution = TiledMatrix::Bytes(n_outputs, dim + panel);
  const size_t dual_solution = dual ? TiledMatrix::Bytes(n_outputs, n) : 0;
  return system + solution + dual_solution + TiledMatrix::Bytes(std::max(n, dim), panel) +
         static_cast<size_t>(n + dim) * sizeof(double);
}

Status SolveRidge(const float* const* rows, const float* const* targets,
                  Span<const float> sample_weights, int64_t n, int64_t dim, int64_t n_outputs,
                  double l2, ThreadPool* pool, float* weights, float* bias,
                  DeviceProducts* device) {
  TW_RETURN_IF_ERROR(CheckArguments(sample_weights, n, dim, n_outputs, l2));
  RidgeProblem p = {rows, targets, n, dim, n_outputs, pool, device, {}, {}, {}};
  p.roots.assign(static_cast<size_t>(n), 1.0);
  for (size_t b = 0; b < sample_weights.size(); ++b) {
    p.roots[b] = std::sqrt(static_cast<double>(sample_weights[b]));
  }
  TW_RETURN_IF_ERROR(Means(rows, p.roots, dim, "features", &p.row_mean));
  TW_RETURN_IF_ERROR(Means(targets, p.roots, n_outputs, "targets", &p.target_mean));
  TiledMatrix solution;
  TW_RETURN_IF_ERROR(solution.Allocate(n_outputs, dim, "the ridge weights"));
  TW_RETURN_IF_ERROR(dim <= n ? SolvePrimal(p, l2, &solution) : SolveDual(p, l2, &solution));
  const auto fits = [](double value) {
    return std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
  };
  std::vector<double> offsets = p.target_mean;
  for (int64_t c = 0; c < n_outputs; ++c) {
    double& offset = offsets[static_cast<size_t>(c)];
    bool all_fit = true;
    for (int64_t d = 0; d < dim; ++d) {
      offset -= *solution.at(c, d) * p.row_mean[static_cast<size_t>(d)];
      all_fit = all_fit && fits(*solution.at(c, d));
    }
    if (!all_fit || !fits(offset)) {
      return NumericError("the ridge weights of output {} do not fit into float32", c);
    }
  }
  for (int64_t c = 0; c < n_outputs; ++c) {
    for (int64_t d = 0; d < dim; ++d) {
      weights[c * dim + d] = static_cast<float>(*solution.at(c, d));
    }
    bias[c] = static_cast<float>(offsets[static_cast<size_t>(c)]);
  }
  return Status::Ok();
}

}  // namespace topwork
