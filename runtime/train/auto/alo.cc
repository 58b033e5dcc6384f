#include "runtime/train/auto/alo.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/train/fit/products.h"

namespace topwork {
namespace {

// Examples³ × classes.
constexpr double kMostWork = 1e8;

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

class Approximation {
 public:
  Approximation(const TrainingContext& context, const HeadDesign& design)
      : context_(context), design_(design), n_(design.n), n_outputs_(design.n_outputs) {}

  Status Run(const LogisticFitter& fitter, double penalty, std::vector<float>* scores) {
    TW_RETURN_IF_ERROR(Describe(*scores));
    TW_RETURN_IF_ERROR(MakeKernel(fitter, penalty));
    TW_RETURN_IF_ERROR(MakeBlocks());
    for (int64_t b = 0; b < n_; ++b) {
      if (!Step(b, scores->data() + b * n_outputs_)) {
        return NumericError("example {} determines its own scores", b);
      }
    }
    return Status::Ok();
  }

 private:
  double weight(int64_t b) const {
    return design_.weights.empty() ? 1.0
                                   : static_cast<double>(design_.weights[static_cast<size_t>(b)]);
  }
  double& probability(int64_t b, int64_t c) {
    return probabilities_[static_cast<size_t>(b * n_outputs_ + c)];
  }

  // Probabilities and gradients at the scores.
  Status Describe(const std::vector<float>& scores) {
    gradients_ = scores;
    for (int64_t b = 0; b < n_; ++b) {
      float* row = gradients_.data() + b * n_outputs_;
      const double most = static_cast<double>(*std::max_element(row, row + n_outputs_));
      double sum = 0.0;
      for (int64_t c = 0; c < n_outputs_; ++c) {
        probabilities_.push_back(std::exp(static_cast<double>(row[c]) - most));
        sum += probabilities_.back();
      }
      for (int64_t c = 0; c < n_outputs_; ++c) probability(b, c) /= sum;
      LossRow(context_.set->loss(), design_.loss_targets(), b, n_outputs_, 1.0f, row, nullptr);
    }
    return Status::Ok();
  }

  // K, the bias included as a feature that is hardly penalised.
  Status MakeKernel(const LogisticFitter& fitter, double penalty) {
    TW_RETURN_IF_ERROR(kernel_.Allocate(n_, n_, "the kernel of the examples"));
    const std::vector<float>& scaled = fitter.scaled();
    const auto column = [&](int64_t d, int64_t first, int64_t n, double* to) {
      for (int64_t k = 0; k < n; ++k) {
        to[k] = static_cast<double>(scaled[static_cast<size_t>((first + k) * design_.dim + d)]);
      }
    };
    TW_RETURN_IF_ERROR(AddSquare(design_.dim, n_, column, context_.pool, &kernel_));
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

  // E_c = D^½ (I + D^½ K D^½)⁻¹ D^½ with D the weighted probabilities of class c, summed into *sum.
  Status MakeClass(int64_t c, TiledMatrix* e, TiledMatrix* sum) {
    std::vector<double> roots;
    for (int64_t b = 0; b < n_; ++b) roots.push_back(std::sqrt(weight(b) * probability(b, c)));
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

  // E_c K and (Σ E)⁻¹ E_c K of every class.
  Status MakeBlocks() {
    TiledMatrix sum;
    TiledMatrix e;
    TW_RETURN_IF_ERROR(sum.Allocate(n_, n_, "the curvature of all classes"));
    left_.resize(static_cast<size_t>(n_outputs_));
    right_.resize(static_cast<size_t>(n_outputs_));
    for (int64_t c = 0; c < n_outputs_; ++c) {
      if (context_.watch->cancelled()) return Cancelled("training was cancelled");
      TW_RETURN_IF_ERROR(MakeClass(c, &e, &sum));
      TW_RETURN_IF_ERROR(Multiply(e, kernel_, &left_[static_cast<size_t>(c)]));
    }
    TW_RETURN_IF_ERROR(Invert(n_, &sum));
    for (size_t c = 0; c < right_.size(); ++c) {
      TW_RETURN_IF_ERROR(Multiply(sum, left_[c], &right_[c]));
    }
    return Status::Ok();
  }

  // M of example b: [n_outputs, n_outputs].
  std::vector<double> BlockOf(int64_t b) const {
    std::vector<double> m;
    for (size_t c = 0; c < left_.size(); ++c) {
      for (size_t k = 0; k < right_.size(); ++k) {
        double sum = c == k ? *kernel_.at(b, b) : 0.0;
        for (int64_t i = 0; i < n_; ++i) {
          const double left = *left_[c].at(i, b);
          sum += left * *right_[k].at(i, b);
          if (c == k) sum -= left * *kernel_.at(i, b);
        }
        m.push_back(sum);
      }
    }
    return m;
  }

  // scores += M (I − W M)⁻¹ gradient, by elimination with pivots.
  bool Step(int64_t b, float* scores) {
    const size_t size = static_cast<size_t>(n_outputs_);
    const std::vector<double> m = BlockOf(b);
    std::vector<double> p(size);
    for (size_t c = 0; c < size; ++c) p[c] = probability(b, static_cast<int64_t>(c));
    const size_t width = size + 1;
    std::vector<double> a(size * width);
    for (size_t k = 0; k < size; ++k) {
      double mean = 0.0;
      for (size_t c = 0; c < size; ++c) mean += p[c] * m[c * size + k];
      for (size_t c = 0; c < size; ++c) {
        a[c * width + k] = (c == k ? 1.0 : 0.0) - weight(b) * p[c] * (m[c * size + k] - mean);
      }
    }
    for (size_t c = 0; c < size; ++c) {
      a[c * width + size] = static_cast<double>(gradients_[static_cast<size_t>(b) * size + c]);
    }
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
    for (size_t c = 0; c < size; ++c) {
      double step = 0.0;
      for (size_t k = 0; k < size; ++k) {
        step += m[c * size + k] * a[k * width + size] / a[k * width + k];
      }
      scores[c] = static_cast<float>(static_cast<double>(scores[c]) + step);
    }
    return true;
  }

  const TrainingContext context_;
  const HeadDesign& design_;
  const int64_t n_, n_outputs_;
  std::vector<double> probabilities_;  // [n, n_outputs]
  std::vector<float> gradients_;       // [n, n_outputs], the example's weight included
  TiledMatrix kernel_;
  std::vector<TiledMatrix> left_, right_;
};

}  // namespace

bool CanApproximate(const TrainingContext& context, const HeadDesign& design) {
  const double n = static_cast<double>(design.n);
  return UsesLabels(context.set->loss().loss) && design.groups.empty() &&
         n * n * n * static_cast<double>(design.n_outputs) <= kMostWork;
}

Status ApproximateLeftOut(const TrainingContext& context, const HeadDesign& design,
                          LogisticFitter* fitter, double penalty,
                          const std::vector<float>& parameters, std::vector<float>* out) {
  out->assign(static_cast<size_t>(design.n * design.n_outputs), 0.0f);
  TW_RETURN_IF_ERROR(fitter->Scores(parameters, *out));
  return Approximation(context, design).Run(*fitter, penalty, out);
}

}  // namespace topwork
