// Z: the centred, scaled rows times √weight; T: the centred targets times √weight. With
// A = ZᵀZ (primal) or ZZᵀ (dual, where √weight is a null vector) = Q S Qᵀ:
//   primal  y_i = Qᵀz_i, right = QᵀZᵀT    fit_i = y_iᵀ(S + λ)⁻¹ right, Hᵢᵢ = y_iᵀ(S + λ)⁻¹y_i
//   dual    y_i = Qᵀe_i, right = QᵀT      (tᵢ − fitᵢ) / λ and (1 − Hᵢᵢ) / λ by the same formulas
#include "runtime/train/auto/ridge_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/train/train_kernels.h"
#include "runtime/train/blocks.h"

namespace topwork {
namespace {

constexpr int64_t kLanes = Tridiagonal::kLanes;

Status CheckDesign(const Design& d) {
  if (d.n < 2 || d.dim < 1 || d.n_outputs < 1) {
    return InvalidArgument("ridge regression of {} outputs on {} examples of {} features",
                           d.n_outputs, d.n, d.dim);
  }
  const size_t n = static_cast<size_t>(d.n);
  if (d.targets.size() != n * static_cast<size_t>(d.n_outputs)) {
    return InvalidArgument("{} targets for {} examples of {} outputs", d.targets.size(), d.n,
                           d.n_outputs);
  }
  if ((!d.weights.empty() && d.weights.size() != n) ||
      (!d.groups.empty() && d.groups.size() != n)) {
    return InvalidArgument("{} weights and {} groups for {} examples", d.weights.size(),
                           d.groups.size(), d.n);
  }
  for (float weight : d.weights) {
    if (!(weight > 0.0f && std::isfinite(weight))) {
      return InvalidArgument("an example's weight is {}; it must be above 0 and finite", weight);
    }
  }
  return Status::Ok();
}

// The examples of each group, in ascending order.
std::vector<std::vector<int32_t>> MembersOf(Span<const int32_t> groups, int64_t n) {
  std::vector<std::vector<int32_t>> members;
  std::map<int32_t, size_t> index;
  for (int64_t b = 0; b < n; ++b) {
    const int32_t group = groups.empty() ? -1 : groups[static_cast<size_t>(b)];
    const auto found = group < 0 ? index.end() : index.find(group);
    if (found != index.end()) {
      members[found->second].push_back(static_cast<int32_t>(b));
      continue;
    }
    if (group >= 0) index[group] = members.size();
    members.push_back({static_cast<int32_t>(b)});
  }
  return members;
}

Status TooSmall(double lambda) {
  return NumericError("a penalty of {} is too small: an example determines its own prediction",
                      lambda);
}

// Solves A x = b for n_right right-hand sides in place, b [size, n_right]; A is positive definite,
// its elements on and below the diagonal in `a`, which is overwritten. False where it is not.
bool CholeskySolve(int64_t size, int64_t n_right, TiledMatrix* a, double* b) {
  const auto dot = TrainKernelsFor(BestCpuKernels()).dot_doubles;
  for (int64_t i = 0; i < size; ++i) {
    double* row = a->at(i, 0);
    for (int64_t j = 0; j <= i; ++j) {
      const double* other = a->at(j, 0);
      const double sum = row[j] - dot(row, other, j);
      if (j == i && !(sum > 0.0)) return false;
      row[j] = j == i ? std::sqrt(sum) : sum / other[j];
    }
  }
  const auto eliminate = [&](int64_t to, int64_t from, double factor) {
    for (int64_t c = 0; c < n_right; ++c) b[to * n_right + c] -= factor * b[from * n_right + c];
  };
  const auto divide = [&](int64_t i) {
    for (int64_t c = 0; c < n_right; ++c) b[i * n_right + c] /= *a->at(i, i);
  };
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t k = 0; k < i; ++k) eliminate(i, k, *a->at(i, k));
    divide(i);
  }
  for (int64_t i = size; i-- > 0;) {
    for (int64_t k = i + 1; k < size; ++k) eliminate(i, k, *a->at(k, i));
    divide(i);
  }
  return true;
}

bool FitsFloat(double value) {
  return std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

struct RidgePath::Penalised {
  Tridiagonal::Factors factors;
  std::vector<double> right;  // D⁻¹L⁻¹ right_
  double lambda = 0.0;
};

size_t RidgePath::Bytes(int64_t n, int64_t dim, int64_t n_outputs) {
  const int64_t size = std::min(n, dim);
  const int64_t outputs = NumBlocks(n_outputs, kLanes) * kLanes;
  const int64_t n_doubles = NumBlocks(n, kLanes) * kLanes * size + 2 * outputs * size;
  return Tridiagonal::Bytes(size) + TiledMatrix::Bytes(std::max(n, dim), 64) +
         static_cast<size_t>(n_doubles) * sizeof(double);
}

Status RidgePath::Begin(Scaling scaling) {
  TW_ASSIGN_OR_RETURN(scale_, FeatureScale::Of(design_, scaling));
  roots_.assign(static_cast<size_t>(design_.n), 1.0);
  for (size_t b = 0; b < design_.weights.size(); ++b) {
    roots_[b] = std::sqrt(static_cast<double>(design_.weights[b]));
  }
  target_mean_.assign(static_cast<size_t>(design_.n_outputs), 0.0);
  for (int64_t c = 0; c < design_.n_outputs; ++c) {
    double sum = 0.0;
    for (int64_t b = 0; b < design_.n; ++b) {
      const double root = roots_[static_cast<size_t>(b)];
      sum += root * root * Original(b, c);
    }
    target_mean_[static_cast<size_t>(c)] = sum / scale_.total_weight;
    if (!std::isfinite(sum)) return NumericError("the targets are not finite");
  }
  return Status::Ok();
}

void RidgePath::FillRow(int64_t b, int64_t first, int64_t n, double* to) const {
  const float* row = design_.rows[b] + first;
  const double* mean = scale_.mean.data() + first;
  const double* scale = scale_.factor.data() + first;
  const double root = roots_[static_cast<size_t>(b)];
  for (int64_t k = 0; k < n; ++k) {
    to[k] = (static_cast<double>(row[k]) - mean[k]) * scale[k] * root;
  }
}

void RidgePath::FillColumn(int64_t d, int64_t first, int64_t n, double* to) const {
  const double mean = scale_.mean[static_cast<size_t>(d)];
  const double scale = scale_.factor[static_cast<size_t>(d)];
  for (int64_t k = 0; k < n; ++k) {
    const int64_t b = first + k;
    to[k] =
        (static_cast<double>(design_.rows[b][d]) - mean) * scale * roots_[static_cast<size_t>(b)];
  }
}

double RidgePath::Target(int64_t b, int64_t c) const {
  return (Original(b, c) - target_mean_[static_cast<size_t>(c)]) * roots_[static_cast<size_t>(b)];
}

double* RidgePath::Block(int64_t block) const {
  return rotated_.as<double>() + block * system_.padded() * kLanes;
}

Result<TiledMatrix> RidgePath::MakeSystem() const {
  const int64_t size = dual_ ? design_.n : design_.dim;
  TiledMatrix gram;
  TW_RETURN_IF_ERROR(gram.Allocate(size, size, "the ridge system"));
  const auto part = [&](int64_t r, int64_t first, int64_t n, double* to) {
    return dual_ ? FillColumn(r, first, n, to) : FillRow(r, first, n, to);
  };
  TW_RETURN_IF_ERROR(
      AddSquare(dual_ ? design_.dim : design_.n, size, part, pool_, &gram, design_.products));
  return gram;
}

Result<LowerTriangle> RidgePath::WithoutWeights(const TiledMatrix& system) const {
  LowerTriangle gram;
  TW_RETURN_IF_ERROR(gram.Allocate(design_.n, "the products of the examples"));
  for (int64_t i = 0; i < design_.n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      gram.row(i)[j] =
          *system.at(i, j) / (roots_[static_cast<size_t>(i)] * roots_[static_cast<size_t>(j)]);
    }
  }
  return gram;
}

Result<LowerTriangle> RidgePath::Gram(const Design& design, Scaling scaling, ThreadPool* pool) {
  TW_RETURN_IF_ERROR(CheckDesign(design));
  RidgePath path;
  path.design_ = design;
  path.pool_ = pool;
  path.dual_ = true;
  TW_RETURN_IF_ERROR(path.Begin(scaling));
  TW_ASSIGN_OR_RETURN(const TiledMatrix system, path.MakeSystem());
  return path.WithoutWeights(system);
}

Status RidgePath::Decompose(WorkWatch* watch, LowerTriangle* out_gram) {
  TW_ASSIGN_OR_RETURN(TiledMatrix system, MakeSystem());
  if (dual_ && out_gram != nullptr) {
    TW_ASSIGN_OR_RETURN(*out_gram, WithoutWeights(system));
  }
  TW_ASSIGN_OR_RETURN(system_,
                      Tridiagonal::Reduce(std::move(system), dual_ ? design_.n : design_.dim,
                                          dual_ ? roots_.data() : nullptr, pool_, watch));
  return Status::Ok();
}

Status RidgePath::RotateRows() {
  const int64_t size = system_.size();
  const int64_t n_blocks = NumBlocks(design_.n, kLanes);
  TW_ASSIGN_OR_RETURN(rotated_, AllocateZeroFloats(2 * n_blocks * system_.padded() * kLanes,
                                                   "the rotated features", DefaultAllocator()));
  if (dual_) {
    system_.RotateIdentity(pool_, Block(0));
    return Status::Ok();
  }
  ForEachBlock(pool_, n_blocks, 2 * design_.n * size * size, [&](int64_t block) {
    double* to = Block(block);
    std::vector<double> row(static_cast<size_t>(size));
    for (int64_t l = 0; l < std::min(kLanes, design_.n - block * kLanes); ++l) {
      FillRow(block * kLanes + l, 0, size, row.data());
      for (int64_t k = 0; k < size; ++k) to[k * kLanes + l] = row[static_cast<size_t>(k)];
    }
    system_.Rotate(to);
  });
  return Status::Ok();
}

Status RidgePath::RotateTargets() {
  const int64_t size = system_.size();
  const int64_t n_outputs = design_.n_outputs;
  TiledMatrix sums;  // TᵀZ
  if (!dual_) {
    TW_RETURN_IF_ERROR(sums.Allocate(n_outputs, size, "the ridge targets"));
    const auto targets = [&](int64_t b, int64_t first, int64_t n, double* to) {
      for (int64_t k = 0; k < n; ++k) to[k] = Target(b, first + k);
    };
    const auto row = [&](int64_t b, int64_t first, int64_t n, double* to) {
      FillRow(b, first, n, to);
    };
    TW_RETURN_IF_ERROR(AddProducts(design_.n, n_outputs, targets, size, row, pool_, &sums));
  }
  const int64_t n_blocks = NumBlocks(n_outputs, kLanes);
  right_.assign(static_cast<size_t>(n_blocks * system_.padded() * kLanes), 0.0);
  ForEachBlock(pool_, n_blocks, 2 * n_outputs * size * size, [&](int64_t block) {
    double* to = right_.data() + block * system_.padded() * kLanes;
    for (int64_t c = block * kLanes; c < std::min(n_outputs, (block + 1) * kLanes); ++c) {
      for (int64_t k = 0; k < size; ++k) {
        to[k * kLanes + c % kLanes] = dual_ ? Target(k, c) : *sums.at(c, k);
      }
    }
    system_.Rotate(to);
  });
  return Status::Ok();
}

Result<RidgePath> RidgePath::MakeToSolve(const Design& design, Scaling scaling, ThreadPool* pool,
                                         WorkWatch* watch, LowerTriangle* out_gram) {
  TW_RETURN_IF_ERROR(CheckDesign(design));
  RidgePath path;
  path.design_ = design;
  path.pool_ = pool;
  path.dual_ = design.dim >= design.n;
  if (watch != nullptr) watch->NoteBytes(Bytes(design.n, design.dim, design.n_outputs));
  TW_RETURN_IF_ERROR(path.Begin(scaling));
  TW_RETURN_IF_ERROR(path.Decompose(watch, out_gram));
  TW_RETURN_IF_ERROR(path.RotateTargets());
  return path;
}

Result<RidgePath> RidgePath::Make(const Design& design, Scaling scaling, ThreadPool* pool,
                                  WorkWatch* watch, LowerTriangle* out_gram) {
  TW_ASSIGN_OR_RETURN(RidgePath path, MakeToSolve(design, scaling, pool, watch, out_gram));
  TW_RETURN_IF_ERROR(path.RotateRows());
  return path;
}

std::vector<double> RidgePath::Lambdas(int count) const {
  const double n_free = static_cast<double>(std::max<int64_t>(1, system_.size() - system_.first()));
  const double mean = std::max(system_.trace() / n_free, std::numeric_limits<double>::min() * 1e20);
  std::vector<double> lambdas;
  for (int i = 0; i < count; ++i) {
    lambdas.push_back(mean * std::pow(10.0, -5.0 + 8.0 * i / (count - 1)));
  }
  return lambdas;
}

Result<RidgePath::Penalised> RidgePath::Penalise(double lambda) const {
  Penalised at;
  at.lambda = lambda;
  if (!(lambda >= 0.0 && std::isfinite(lambda))) {
    return InvalidArgument("the L2 penalty is {}; it must be at least 0 and finite", lambda);
  }
  TW_ASSIGN_OR_RETURN(at.factors, system_.Factor(lambda));
  at.right = right_;
  const int64_t block_size = system_.padded() * kLanes;
  for (int64_t block = 0; block < NumBlocks(design_.n_outputs, kLanes); ++block) {
    double* right = at.right.data() + block * block_size;
    system_.ForwardSolve(at.factors, right);
    for (int64_t k = 0; k < system_.size(); ++k) {
      const double inverse = 1.0 / at.factors.pivots[static_cast<size_t>(k)];
      for (int64_t l = 0; l < kLanes; ++l) right[k * kLanes + l] *= inverse;
    }
  }
  return at;
}

// For a block of examples: y_iᵀ(S + λ)⁻¹ right into fit [n_outputs, kLanes] and y_iᵀ(S + λ)⁻¹y_i into
// leverage [kLanes]. work: L⁻¹y.
void RidgePath::Fit(const Penalised& at, int64_t block, std::vector<double>* work, double* fit,
                    double* leverage) const {
  const int64_t size = system_.size();
  double* v = work->data();
  std::copy_n(Block(block), size * kLanes, v);
  system_.ForwardSolve(at.factors, v);
  std::fill_n(leverage, kLanes, 0.0);
  for (int64_t k = 0; k < size; ++k) {
    const double inverse = 1.0 / at.factors.pivots[static_cast<size_t>(k)];
    for (int64_t l = 0; l < kLanes; ++l)
      leverage[l] += v[k * kLanes + l] * v[k * kLanes + l] * inverse;
  }
  const TrainKernels& kernels = TrainKernelsFor(BestCpuKernels());
  const int64_t n_tiles = NumBlocks(design_.n_outputs, kLanes);
  std::fill_n(fit, n_tiles * kLanes * kLanes, 0.0);
  for (int64_t t = 0; t < n_tiles; ++t) {
    kernels.add_products(at.right.data() + t * system_.padded() * kLanes, v, size, kLanes,
                         fit + t * kLanes * kLanes);
  }
}

// visit(b, leverage, residuals): the example's residuals times √weight, [n_outputs] (dual: they and the
// leverage divided by λ), of every stride-th block. On several threads.
void RidgePath::ForEachFit(
    const Penalised& at, int64_t stride,
    FunctionRef<void(int64_t b, double leverage, const double* residuals)> visit) const {
  const int64_t size = system_.size();
  const int64_t n_outputs = design_.n_outputs;
  const int64_t n_tiles = NumBlocks(NumBlocks(design_.n, kLanes), stride);
  ForEachBlock(pool_, n_tiles, 2 * n_tiles * kLanes * size * (n_outputs + 2), [&](int64_t at_tile) {
    const int64_t tile = at_tile * stride;
    std::vector<double> work(static_cast<size_t>(size * kLanes));
    std::vector<double> fit(static_cast<size_t>(NumBlocks(n_outputs, kLanes) * kLanes * kLanes));
    std::vector<double> residuals(static_cast<size_t>(n_outputs));
    double leverage[kLanes];
    Fit(at, tile, &work, fit.data(), leverage);
    for (int64_t l = 0; l < std::min(kLanes, design_.n - tile * kLanes); ++l) {
      const int64_t b = tile * kLanes + l;
      for (int64_t c = 0; c < n_outputs; ++c) {
        const double f = fit[static_cast<size_t>(c * kLanes + l)];
        residuals[static_cast<size_t>(c)] = dual_ ? f : Target(b, c) - f;
      }
      visit(b, leverage[l], residuals.data());
    }
  });
}

Status RidgePath::LeaveOneOut(double lambda, Span<double> out, int64_t stride) const {
  TW_ASSIGN_OR_RETURN(const Penalised at, Penalise(lambda));
  const int64_t n_outputs = design_.n_outputs;
  std::vector<char> failed(static_cast<size_t>(design_.n), 0);
  ForEachFit(at, stride, [&](int64_t b, double leverage, const double* residuals) {
    const double root = roots_[static_cast<size_t>(b)];
    const double rest = dual_ ? leverage : 1.0 - leverage - root * root / scale_.total_weight;
    if (!(rest > 0.0)) failed[static_cast<size_t>(b)] = 1;
    for (int64_t c = 0; c < n_outputs; ++c) {
      out[static_cast<size_t>(b * n_outputs + c)] = Original(b, c) - residuals[c] / rest / root;
    }
  });
  return std::count(failed.begin(), failed.end(), 1) == 0 ? Status::Ok() : TooSmall(lambda);
}

// What the examples of a group are predicted without it, into their rows of `out`, which has
// their residuals times √weight before (dual: divided by λ).
Status RidgePath::LeaveOut(const Penalised& at, const std::vector<int32_t>& members,
                           Span<double> out) const {
  const int64_t size = system_.size();
  const int64_t m = static_cast<int64_t>(members.size());
  const int64_t n_outputs = design_.n_outputs;
  std::vector<double> v(static_cast<size_t>(size * m));  // D^−½ L⁻¹ y, a column for each member
  for (int64_t k = system_.first(); k < size; ++k) {
    const double below = k > 0 ? at.factors.below[static_cast<size_t>(k - 1)] : 0.0;
    for (int64_t j = 0; j < m; ++j) {
      const int64_t b = members[static_cast<size_t>(j)];
      const double before = k > 0 ? v[static_cast<size_t>((k - 1) * m + j)] : 0.0;
      v[static_cast<size_t>(k * m + j)] =
          Block(b / kLanes)[k * kLanes + b % kLanes] - below * before;
    }
  }
  TiledMatrix rest;  // I − H, or (I − H) / λ
  TW_RETURN_IF_ERROR(rest.Allocate(m, m, "a group's leverages"));
  const auto row = [&](int64_t k, int64_t first, int64_t n, double* to) {
    const double factor = 1.0 / std::sqrt(at.factors.pivots[static_cast<size_t>(k)]);
    for (int64_t j = 0; j < n; ++j) to[j] = factor * v[static_cast<size_t>(k * m + first + j)];
  };
  TW_RETURN_IF_ERROR(AddSquare(size, m, row, pool_, &rest));
  std::vector<double> residuals;
  for (int64_t i = 0; i < m; ++i) {
    const int64_t b = members[static_cast<size_t>(i)];
    for (int64_t j = 0; !dual_ && j <= i; ++j) {
      const double roots = roots_[static_cast<size_t>(b)] *
                           roots_[static_cast<size_t>(members[static_cast<size_t>(j)])];
      *rest.at(i, j) = (i == j ? 1.0 : 0.0) - *rest.at(i, j) - roots / scale_.total_weight;
    }
    const double* from = out.data() + b * n_outputs;
    residuals.insert(residuals.end(), from, from + n_outputs);
  }
  if (!CholeskySolve(m, n_outputs, &rest, residuals.data())) return TooSmall(at.lambda);
  for (int64_t i = 0; i < m; ++i) {
    const int64_t b = members[static_cast<size_t>(i)];
    for (int64_t c = 0; c < n_outputs; ++c) {
      out[static_cast<size_t>(b * n_outputs + c)] =
          Original(b, c) -
          residuals[static_cast<size_t>(i * n_outputs + c)] / roots_[static_cast<size_t>(b)];
    }
  }
  return Status::Ok();
}

Status RidgePath::LeaveGroupOut(double lambda, Span<double> out) const {
  return LeaveGroupOut(lambda, design_.groups, out);
}

Status RidgePath::LeaveGroupOut(double lambda, Span<const int32_t> groups, Span<double> out) const {
  const std::vector<std::vector<int32_t>> members = MembersOf(groups, design_.n);
  if (members.size() < 2) return InvalidArgument("leaving a group out needs two groups");
  if (members.size() == static_cast<size_t>(design_.n)) return LeaveOneOut(lambda, out);
  TW_ASSIGN_OR_RETURN(const Penalised at, Penalise(lambda));
  ForEachFit(at, 1, [&](int64_t b, double, const double* residuals) {
    std::copy_n(residuals, design_.n_outputs, out.data() + b * design_.n_outputs);
  });
  for (const std::vector<int32_t>& group : members) TW_RETURN_IF_ERROR(LeaveOut(at, group, out));
  return Status::Ok();
}

Status RidgePath::Solve(double lambda, std::vector<float>* out) const {
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  const size_t n_weights = static_cast<size_t>(design_.dim) * n_outputs;
  out->assign(n_weights + n_outputs, 0.0f);
  return Solve(lambda, {out->data(), n_weights}, {out->data() + n_weights, n_outputs});
}

Status RidgePath::Solve(double lambda, Span<float> weights, Span<float> bias) const {
  TW_ASSIGN_OR_RETURN(const Tridiagonal::Factors factors, system_.Factor(lambda));
  const int64_t n_outputs = design_.n_outputs;
  std::vector<double> solution = right_;  // of the system, then rotated back
  for (int64_t block = 0; block < NumBlocks(n_outputs, kLanes); ++block) {
    double* x = solution.data() + block * system_.padded() * kLanes;
    system_.Solve(factors, x);
    system_.RotateBack(x);
  }
  const auto at = [&](int64_t c, int64_t k) {
    return solution[static_cast<size_t>((c / kLanes * system_.padded() + k) * kLanes + c % kLanes)];
  };
  TiledMatrix sums;
  if (dual_) {
    TW_RETURN_IF_ERROR(sums.Allocate(n_outputs, design_.dim, "the ridge weights"));
    const auto left = [&](int64_t b, int64_t first, int64_t n, double* to) {
      for (int64_t k = 0; k < n; ++k) to[k] = at(first + k, b);
    };
    const auto row = [&](int64_t b, int64_t first, int64_t n, double* to) {
      FillRow(b, first, n, to);
    };
    TW_RETURN_IF_ERROR(AddProducts(design_.n, n_outputs, left, design_.dim, row, pool_, &sums));
  }
  bool all_fit = true;
  for (int64_t c = 0; c < n_outputs; ++c) {
    double offset = target_mean_[static_cast<size_t>(c)];
    for (int64_t d = 0; d < design_.dim; ++d) {
      const double weight =
          (dual_ ? *sums.at(c, d) : at(c, d)) * scale_.factor[static_cast<size_t>(d)];
      offset -= weight * scale_.mean[static_cast<size_t>(d)];
      all_fit = all_fit && FitsFloat(weight);
      weights[static_cast<size_t>(c * design_.dim + d)] = static_cast<float>(weight);
    }
    all_fit = all_fit && FitsFloat(offset);
    bias[static_cast<size_t>(c)] = static_cast<float>(offset);
  }
  if (!all_fit) return NumericError("the ridge weights do not fit into float32");
  return Status::Ok();
}

}  // namespace topwork
