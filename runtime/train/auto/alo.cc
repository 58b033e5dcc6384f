#include "runtime/train/auto/alo.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/train/fit/products.h"

namespace topwork {

#if !defined(__OPTIMIZE_SIZE__)

namespace {

// Multiplications: examples³ × outputs, and the blocks of those that leave together.
constexpr double kMostWork = 2e7;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// *a ← a⁻¹ for a positive definite matrix of n rows, given whole.
Status Invert(int64_t n, TiledMatrix* a) {
  for (int64_t i = n; i < a->n_rows; ++i) *a->at(i, i) = 1.0;
  Eigen::Map<RowMajor> map(a->buffer.as<double>(), a->n_rows, a->n_columns);
  Eigen::LLT<Eigen::Ref<RowMajor>, Eigen::Lower> factors(map);
  if (factors.info() != Eigen::Success) {
    return NumericError("the curvature of the loss at {} examples is singular", n);
  }
  TiledMatrix inverse;
  TW_RETURN_IF_ERROR(inverse.Allocate(n, n, "the inverse of the curvature"));
  for (int64_t i = 0; i < inverse.n_rows; ++i) *inverse.at(i, i) = 1.0;
  Eigen::Map<Eigen::MatrixXd> right(inverse.buffer.as<double>(), inverse.n_columns, inverse.n_rows);
  factors.solveInPlace(right);
  *a = std::move(inverse);
  return Status::Ok();
}

// Solves the system of `size` rows [size + 1], the right-hand side last, by elimination with pivots;
// the solution takes the last column. False where it is singular.
bool Eliminate(size_t size, std::vector<double>* system) {
  std::vector<double>& a = *system;
  const size_t width = size + 1;
  for (size_t i = 0; i < size; ++i) {
    size_t pivot = i;
    for (size_t r = i; r < size; ++r) {
      if (std::fabs(a[r * width + i]) > std::fabs(a[pivot * width + i])) pivot = r;
    }
    if (!(std::fabs(a[pivot * width + i]) > 1e-12)) return false;
    for (size_t c = 0; c < width; ++c) std::swap(a[i * width + c], a[pivot * width + c]);
    for (size_t r = 0; r < size; ++r) {
      const double factor = a[r * width + i] / a[i * width + i];
      for (size_t c = i; c < width && r != i; ++c) a[r * width + c] -= factor * a[i * width + c];
    }
  }
  for (size_t i = 0; i < size; ++i) a[i * width + size] /= a[i * width + i];
  return true;
}

class Approximation {
 public:
  Approximation(const TrainingContext& context, const HeadDesign& design)
      : context_(context),
        design_(design),
        n_(design.n),
        n_outputs_(design.n_outputs),
        softmax_(UsesLabels(context.set->loss().loss)) {}

  Status Run(const LogisticFitter& fitter, double penalty, std::vector<float>* scores) {
    Describe(*scores);
    TW_RETURN_IF_ERROR(MakeKernel(fitter, penalty));
    TW_RETURN_IF_ERROR(MakeBlocks());
    for (const std::vector<int64_t>& members : LeavingTogether(design_, design_.groups)) {
      if (!Step(members, scores)) {
        return NumericError("example {} determines its own scores", members.front());
      }
    }
    return Status::Ok();
  }

 private:
  double& curvature(int64_t b, int64_t c) {
    return curvatures_[static_cast<size_t>(b * n_outputs_ + c)];
  }

  // Gradients and curvatures at the scores. Softmax: weight times probability p, as its curvature is
  // weight · (diag(p) − ppᵀ).
  void Describe(const std::vector<float>& scores) {
    const LossOptions& loss = context_.set->loss();
    gradients_ = scores;
    curvatures_.assign(scores.begin(), scores.end());
    for (int64_t b = 0; b < n_; ++b) {
      const double weight = RowWeight(loss, design_.loss_targets(), b);
      const float* row = scores.data() + b * n_outputs_;
      const double most = static_cast<double>(*std::max_element(row, row + n_outputs_));
      double sum = 0.0;
      for (int64_t c = 0; c < n_outputs_; ++c) {
        const double score = static_cast<double>(row[c]);
        curvature(b, c) = softmax_ ? std::exp(score - most) : SigmoidCurvature(loss, b, c, score);
        sum += curvature(b, c);
      }
      const double share = softmax_ ? sum : static_cast<double>(n_outputs_);
      for (int64_t c = 0; c < n_outputs_; ++c) curvature(b, c) *= weight / share;
      LossRow(loss, design_.loss_targets(), b, n_outputs_, 1.0f, gradients_.data() + b * n_outputs_,
              nullptr);
    }
  }

  double SigmoidCurvature(const LossOptions& loss, int64_t b, int64_t c, double score) const {
    const double smoothing = static_cast<double>(loss.label_smoothing);
    const double target = static_cast<double>(design_.values[static_cast<size_t>(b)][c]);
    const double soft = target * (1.0 - smoothing) + 0.5 * smoothing;
    const size_t k = static_cast<size_t>(c);
    const double positive =
        loss.class_weights.empty() ? soft : soft * static_cast<double>(loss.class_weights[k]);
    const double p = 1.0 / (1.0 + std::exp(-score));
    return (positive + 1.0 - soft) * p * (1.0 - p);
  }

  // K, the bias included as a feature that is hardly penalised.
  Status MakeKernel(const LogisticFitter& fitter, double penalty) {
    TW_RETURN_IF_ERROR(kernel_.Allocate(n_, n_, "the kernel of the examples"));
    const auto column = [&](int64_t d, int64_t first, int64_t n, double* to) {
      for (int64_t k = 0; k < n; ++k) to[k] = static_cast<double>(fitter.Scaled(first + k, d));
    };
    TW_RETURN_IF_ERROR(
        AddSquare(design_.dim, n_, column, context_.pool, &kernel_, context_.products));
    double trace = 0.0;
    for (int64_t b = 0; b < n_; ++b) trace += *kernel_.at(b, b) / penalty;
    const double bias = 1e3 * (1.0 + trace / static_cast<double>(n_));
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        *kernel_.at(j, i) = *kernel_.at(i, j) = *kernel_.at(i, j) / penalty + bias;
      }
    }
    return Status::Ok();
  }

  // *out = AB for symmetric A.
  Status Multiply(const TiledMatrix& a, const TiledMatrix& b, TiledMatrix* out) {
    TW_RETURN_IF_ERROR(out->Allocate(n_, n_, "a product of curvatures"));
    const auto part = [](const TiledMatrix& m) {
      return [&m](int64_t r, int64_t first, int64_t n, double* to) {
        std::copy_n(m.at(r, first), n, to);
      };
    };
    return AddProducts(n_, n_, part(a), n_, part(b), context_.pool, out);
  }

  // E_c = D^½ (I + D^½ K D^½)⁻¹ D^½ with D the curvatures of output c, summed into *sum.
  Status MakeClass(int64_t c, TiledMatrix* e, TiledMatrix* sum) {
    std::vector<double> roots;
    for (int64_t b = 0; b < n_; ++b) roots.push_back(std::sqrt(curvature(b, c)));
    TW_RETURN_IF_ERROR(e->Allocate(n_, n_, "a class's curvature"));
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < n_; ++j) {
        *e->at(i, j) = (i == j ? 1.0 : 0.0) + roots[static_cast<size_t>(i)] * *kernel_.at(i, j) *
                                                  roots[static_cast<size_t>(j)];
      }
    }
    TW_RETURN_IF_ERROR(Invert(n_, e));
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < n_; ++j) {
        *e->at(i, j) *= roots[static_cast<size_t>(i)] * roots[static_cast<size_t>(j)];
        *sum->at(i, j) += *e->at(i, j);
      }
    }
    return Status::Ok();
  }

  // E_c K of every output; softmax: (Σ E)⁻¹ E_c K, too.
  Status MakeBlocks() {
    TiledMatrix sum;
    TiledMatrix e;
    TW_RETURN_IF_ERROR(sum.Allocate(n_, n_, "the curvature of all classes"));
    left_.resize(static_cast<size_t>(n_outputs_));
    for (int64_t c = 0; c < n_outputs_; ++c) {
      if (context_.watch->cancelled()) return Cancelled("training was cancelled");
      TW_RETURN_IF_ERROR(MakeClass(c, &e, &sum));
      TW_RETURN_IF_ERROR(Multiply(e, kernel_, &left_[static_cast<size_t>(c)]));
    }
    if (!softmax_) return Status::Ok();
    right_.resize(left_.size());
    TW_RETURN_IF_ERROR(Invert(n_, &sum));
    for (size_t c = 0; c < right_.size(); ++c) {
      TW_RETURN_IF_ERROR(Multiply(sum, left_[c], &right_[c]));
    }
    return Status::Ok();
  }

  // The element of (K⁻¹ + W)⁻¹ for example i's output c and example j's output k.
  double Element(int64_t i, size_t c, int64_t j, size_t k) const {
    double sum = c == k ? *kernel_.at(i, j) : 0.0;
    for (int64_t r = 0; r < n_; ++r) {
      if (softmax_) sum += *left_[c].at(r, i) * *right_[k].at(r, j);
      if (c == k) sum -= *kernel_.at(r, i) * *left_[c].at(r, j);
    }
    return sum;
  }

  // M of the examples that leave: [members × outputs]².
  std::vector<double> BlockOf(const std::vector<int64_t>& members) const {
    std::vector<double> m;
    for (int64_t i : members) {
      for (size_t c = 0; c < left_.size(); ++c) {
        for (int64_t j : members) {
          for (size_t k = 0; k < left_.size(); ++k) {
            m.push_back(softmax_ || c == k ? Element(i, c, j, k) : 0.0);
          }
        }
      }
    }
    return m;
  }

  // I − W M with the gradients behind it as a last column.
  std::vector<double> SystemOf(const std::vector<int64_t>& members, const std::vector<double>& m) {
    const size_t n_outputs = left_.size();
    const size_t size = members.size() * n_outputs;
    std::vector<double> a(size * (size + 1));
    for (size_t i = 0; i < members.size(); ++i) {
      const double* w = &curvature(members[i], 0);
      const double total = std::accumulate(w, w + n_outputs, 0.0);
      const double* rows = m.data() + i * n_outputs * size;
      double* to = a.data() + i * n_outputs * (size + 1);
      for (size_t k = 0; k < size; ++k) {
        double mean = 0.0;
        for (size_t c = 0; softmax_ && c < n_outputs; ++c)
          mean += w[c] * rows[c * size + k] / total;
        for (size_t c = 0; c < n_outputs; ++c) {
          to[c * (size + 1) + k] =
              (i * n_outputs + c == k ? 1.0 : 0.0) - w[c] * (rows[c * size + k] - mean);
        }
      }
      const float* gradient = gradients_.data() + static_cast<size_t>(members[i]) * n_outputs;
      for (size_t c = 0; c < n_outputs; ++c) {
        to[c * (size + 1) + size] = static_cast<double>(gradient[c]);
      }
    }
    return a;
  }

  // scores += M (I − W M)⁻¹ gradient.
  bool Step(const std::vector<int64_t>& members, std::vector<float>* scores) {
    const std::vector<double> m = BlockOf(members);
    std::vector<double> a = SystemOf(members, m);
    const size_t size = members.size() * left_.size();
    if (!Eliminate(size, &a)) return false;
    for (size_t r = 0; r < size; ++r) {
      double step = 0.0;
      for (size_t k = 0; k < size; ++k) step += m[r * size + k] * a[k * (size + 1) + size];
      float& score = (*scores)[static_cast<size_t>(members[r / left_.size()]) * left_.size() +
                               r % left_.size()];
      score = static_cast<float>(static_cast<double>(score) + step);
    }
    return true;
  }

  const TrainingContext context_;
  const HeadDesign& design_;
  const int64_t n_, n_outputs_;
  const bool softmax_;
  std::vector<double> curvatures_;  // [n, n_outputs], the example's weight included
  std::vector<float> gradients_;    // [n, n_outputs], likewise
  TiledMatrix kernel_;
  std::vector<TiledMatrix> left_, right_;
};

}  // namespace

bool CanApproximate(const TrainingContext& context, const HeadDesign& design) {
  const LossOptions& loss = context.set->loss();
  if (IsRegression(loss.loss) || loss.focal_gamma > 0.0f) return false;
  const double n = static_cast<double>(design.n);
  const double n_outputs = static_cast<double>(design.n_outputs);
  double work = n * n * n * n_outputs;
  for (const std::vector<int64_t>& members : LeavingTogether(design, design.groups)) {
    const double size = static_cast<double>(members.size()) * n_outputs;
    work += size * size * (n + size);
  }
  return work <= kMostWork;
}

Status ApproximateLeftOut(const TrainingContext& context, const HeadDesign& design,
                          LogisticFitter* fitter, double penalty,
                          const std::vector<float>& parameters, std::vector<float>* out) {
  out->assign(static_cast<size_t>(design.n * design.n_outputs), 0.0f);
  TW_RETURN_IF_ERROR(fitter->Scores(parameters, *out));
  return Approximation(context, design).Run(*fitter, penalty, out);
}

#else

bool CanApproximate(const TrainingContext&, const HeadDesign&) { return false; }

Status ApproximateLeftOut(const TrainingContext&, const HeadDesign&, LogisticFitter*, double,
                          const std::vector<float>&, std::vector<float>*) {
  return Unsupported("builds for size have no approximate leave-one-out");
}

#endif

}  // namespace topwork
