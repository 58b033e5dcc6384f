// Ridge regression in closed form, with X and T the centred rows and targets times √sample_weight:
//
//   primal  (XᵀX + l2·I) Wᵀ = XᵀT           dim ≤ n
//   dual    (XXᵀ + l2·I) A = T, Wᵀ = XᵀA    dim > n
// Sums run over the depth in panels, packed in double precision for add_products: every element is
// one chain in ascending order, whatever thread computes it. The system is padded to whole tiles.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/train/train_kernels.h"
#include "runtime/base/buffer.h"
#include "runtime/train/blocks.h"
#include "runtime/train/fit/solvers.h"

namespace topwork {
namespace {

constexpr int64_t kTile = kProductTile;
constexpr int64_t kDepth = 64;  // of a panel: two packed tiles stay in the first cache

int64_t Padded(int64_t n) { return NumBlocks(n, kTile) * kTile; }

struct RidgeProblem {
  const float* const* rows;
  const float* const* targets;
  int64_t n, dim, n_outputs;
  ThreadPool* pool;
  const TrainKernels* kernels;
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

// A matrix of whole tiles in a Buffer, zero at first.
struct Matrix {
  Buffer buffer;
  int64_t n_rows = 0, n_columns = 0;  // padded

  Status Allocate(int64_t rows, int64_t columns, const char* what) {
    n_rows = Padded(rows);
    n_columns = Padded(columns);
    int64_t n_floats = 0;
    if (MulOverflow(n_rows, n_columns, &n_floats) || MulOverflow(n_floats, int64_t{2}, &n_floats)) {
      return OutOfMemory("{} of {} x {} does not fit into the address space", what, n_rows,
                         n_columns);
    }
    TW_ASSIGN_OR_RETURN(buffer, AllocateZeroFloats(n_floats, what, DefaultAllocator()));
    return Status::Ok();
  }
  double* at(int64_t row, int64_t column) const {
    return buffer.as<double>() + row * n_columns + column;
  }
};

// Packs columns of a panel, tile by tile: out[tile][depth][kTile] of value(r, column).
template <typename Value>
void Pack(const RidgeProblem& p, int64_t depth, int64_t n_columns, double* out,
          const Value& value) {
  ForEachBlock(p.pool, NumBlocks(n_columns, kTile), 20 * depth * n_columns, [&](int64_t tile) {
    double* to = out + tile * kDepth * kTile;
    const int64_t first = tile * kTile;
    const int64_t n = std::min(kTile, n_columns - first);
    for (int64_t r = 0; r < depth; ++r, to += kTile) {
      for (int64_t k = 0; k < n; ++k) to[k] = value(r, first + k);
      for (int64_t k = n; k < kTile; ++k) to[k] = 0.0;
    }
  });
}

// out += AᵀB over one panel; with `lower`, A is B and only tiles on and below the diagonal count.
void AddPanel(const RidgeProblem& p, const double* a, const double* b, int64_t depth, bool lower,
              Matrix* out) {
  const int64_t columns = out->n_columns / kTile;
  const int64_t flops = 2 * depth * out->n_rows * out->n_columns;
  ForEachBlock(p.pool, out->n_rows / kTile, flops, [&](int64_t i) {
    for (int64_t j = 0; j < (lower ? i + 1 : columns); ++j) {
      p.kernels->add_products(a + i * kDepth * kTile, b + j * kDepth * kTile, depth, out->n_columns,
                              out->at(i * kTile, j * kTile));
    }
  });
}

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
Status Solve(double l2, int64_t size, Matrix* system, Matrix* right) {
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

// XᵀX into *system (unless null) and AᵀX into *out [n_outputs, dim], A given by its elements.
template <typename Left>
Status SumOverExamples(const RidgeProblem& p, const Left& left, Matrix* system, Matrix* out) {
  Matrix x;
  Matrix a;
  TW_RETURN_IF_ERROR(x.Allocate(p.dim, kDepth, "a panel of features"));
  TW_RETURN_IF_ERROR(a.Allocate(p.n_outputs, kDepth, "a panel of targets"));
  for (int64_t first = 0; first < p.n; first += kDepth) {
    const int64_t depth = std::min(kDepth, p.n - first);
    Pack(p, depth, p.dim, x.at(0, 0), [&](int64_t r, int64_t d) { return p.x(first + r, d); });
    Pack(p, depth, p.n_outputs, a.at(0, 0),
         [&](int64_t r, int64_t c) { return left(first + r, c); });
    if (system != nullptr) AddPanel(p, x.at(0, 0), x.at(0, 0), depth, true, system);
    AddPanel(p, a.at(0, 0), x.at(0, 0), depth, false, out);
  }
  return Status::Ok();
}

Status SolvePrimal(const RidgeProblem& p, double l2, Matrix* weights) {
  Matrix system;
  TW_RETURN_IF_ERROR(system.Allocate(p.dim, p.dim, "the ridge system"));
  TW_RETURN_IF_ERROR(SumOverExamples(
      p, [&](int64_t b, int64_t c) { return p.t(b, c); }, &system, weights));
  return Solve(l2, p.dim, &system, weights);
}

Status SolveDual(const RidgeProblem& p, double l2, Matrix* weights) {
  Matrix system;
  Matrix a;  // [n_outputs, n]: targets, then the solution
  Matrix x;
  TW_RETURN_IF_ERROR(system.Allocate(p.n, p.n, "the ridge system"));
  TW_RETURN_IF_ERROR(a.Allocate(p.n_outputs, p.n, "the ridge solution"));
  TW_RETURN_IF_ERROR(x.Allocate(p.n, kDepth, "a panel of features"));
  for (int64_t first = 0; first < p.dim; first += kDepth) {
    const int64_t depth = std::min(kDepth, p.dim - first);
    Pack(p, depth, p.n, x.at(0, 0), [&](int64_t r, int64_t b) { return p.x(b, first + r); });
    AddPanel(p, x.at(0, 0), x.at(0, 0), depth, true, &system);
  }
  for (int64_t c = 0; c < p.n_outputs; ++c) {
    for (int64_t b = 0; b < p.n; ++b) *a.at(c, b) = p.t(b, c);
  }
  TW_RETURN_IF_ERROR(Solve(l2, p.n, &system, &a));
  return SumOverExamples(
      p, [&](int64_t b, int64_t c) { return *a.at(c, b); }, nullptr, weights);
}

}  // namespace

size_t RidgeBytes(int64_t n, int64_t dim, int64_t n_outputs) {
  const int64_t unknowns = std::min(n, dim);
  const bool dual = dim > n;
  int64_t n_doubles = Padded(unknowns) * Padded(unknowns) + Padded(n_outputs) * Padded(dim) +
                      (Padded(dim) + Padded(n_outputs)) * kDepth + n + dim;
  if (dual) n_doubles += Padded(n_outputs) * Padded(n) + Padded(n) * kDepth;
  return static_cast<size_t>(n_doubles) * sizeof(double);
}

Status SolveRidge(const float* const* rows, const float* const* targets,
                  Span<const float> sample_weights, int64_t n, int64_t dim, int64_t n_outputs,
                  double l2, ThreadPool* pool, float* weights, float* bias) {
  TW_RETURN_IF_ERROR(CheckArguments(sample_weights, n, dim, n_outputs, l2));
  RidgeProblem p = {rows, targets, n, dim, n_outputs, pool, &TrainKernelsFor(BestCpuKernels()),
                    {},   {},      {}};
  p.roots.assign(static_cast<size_t>(n), 1.0);
  for (size_t b = 0; b < sample_weights.size(); ++b) {
    p.roots[b] = std::sqrt(static_cast<double>(sample_weights[b]));
  }
  TW_RETURN_IF_ERROR(Means(rows, p.roots, dim, "features", &p.row_mean));
  TW_RETURN_IF_ERROR(Means(targets, p.roots, n_outputs, "targets", &p.target_mean));
  Matrix solution;
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
