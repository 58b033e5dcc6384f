#include "runtime/train/auto/logistic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/train/train_kernels.h"
#include "runtime/train/auto/loo.h"
#include "runtime/train/fit/products.h"

namespace topwork {
namespace {

constexpr int kMostIterations = 500;
// Of the mean square of the examples: far below what float32 tells.
constexpr double kJitter = 1e-9;
// Scaled features that are made for a while: whole blocks of DenseHead::Scores.
constexpr int64_t kRowsAtOnce = 64;
// Of the fitted parameters: what L-BFGS remembers, its points and gradients, and a search's of two
// penalties for each part.
constexpr size_t kSolverCopies = 24 + 2 * kLooParts;
// Of the examples' scores.
constexpr size_t kScoreCopies = 8;

}  // namespace

Result<std::unique_ptr<LogisticFitter>> LogisticFitter::Create(const TrainingContext& context,
                                                               const HeadDesign* design,
                                                               Scaling scaling,
                                                               LowerTriangle gram) {
  std::unique_ptr<LogisticFitter> fitter(new LogisticFitter(context, design));
  TW_ASSIGN_OR_RETURN(FeatureScale scale, FeatureScale::Of(design->ridge(), scaling));
  fitter->scales_ = std::move(scale.factor);
  fitter->means_ = std::move(scale.mean);
  double squares = 0.0;
  for (int64_t b = 0; b < design->n; ++b) {
    for (int64_t d = 0; d < design->dim; ++d) {
      const double value = static_cast<double>(fitter->Scaled(b, d));
      squares += value * value;
    }
  }
  const double n_free =
      static_cast<double>(std::max<int64_t>(1, std::min(design->n - 1, design->dim)));
  fitter->mean_square_ = squares > 0.0 ? squares / n_free : 1.0;
  const TrainerOptions& options = *context.options;
  TW_ASSIGN_OR_RETURN(fitter->head_,
                      DenseHead::Create(design->dim, design->n_outputs, options.allocator,
                                        options.cpu, context.pool));
  fitter->fit_dim_ = design->dim;
  TW_RETURN_IF_ERROR(context.watch->Expect(fitter->MostBytes(), "a logistic head's solver"));
  if (design->n < design->dim) TW_RETURN_IF_ERROR(fitter->Reduce(scaling, std::move(gram)));
  if (!fitter->is_reduced()) fitter->scaled_ = fitter->ScaledRows(0, design->n);
  TW_ASSIGN_OR_RETURN(fitter->fit_head_,
                      DenseHead::Create(fitter->fit_dim_, design->n_outputs, options.allocator,
                                        options.cpu, context.pool));
  return fitter;
}

size_t LogisticFitter::MostBytes() const {
  const size_t n = static_cast<size_t>(design_.n), dim = static_cast<size_t>(design_.dim);
  const size_t rows = n < dim ? 3 * n * n : n * dim;  // the factor in float64, and in float32
  const size_t fitted = (std::min(n, dim) + 1) * static_cast<size_t>(design_.n_outputs);
  const size_t floats = rows + kSolverCopies * fitted + kScoreCopies * design_.targets.size() +
                        head_->parameters().size();
  return design_.bytes() + floats * sizeof(float);
}

std::vector<float> LogisticFitter::ScaledRows(int64_t first, int64_t count) const {
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(count * design_.dim));
  for (int64_t b = first; b < first + count; ++b) {
    for (int64_t d = 0; d < design_.dim; ++d) rows.push_back(Scaled(b, d));
  }
  return rows;
}

// In the place of the Gram matrix. Leaves lower_ empty where rounding leaves no Cholesky factor.
Status LogisticFitter::Reduce(Scaling scaling, LowerTriangle gram) {
  const int64_t n = design_.n;
  if (gram.empty()) {
    TW_ASSIGN_OR_RETURN(gram, RidgePath::Gram(design_.ridge(), scaling, context_.pool));
  }
  double trace = 0.0;
  for (int64_t i = 0; i < n; ++i) trace += gram.row(i)[i];
  const auto dot = TrainKernelsFor(BestCpuKernels()).dot_doubles;
  for (int64_t i = 0; i < n; ++i) {
    double* row = gram.row(i);
    for (int64_t j = 0; j <= i; ++j) {
      const double* other = gram.row(j);
      // Centred rows are dependent: a little keeps the factor regular.
      double sum = row[j] + (i == j ? kJitter * trace / static_cast<double>(n) : 0.0);
      sum -= dot(row, other, j);
      if (i == j && !(sum > 0.0)) return Status::Ok();
      row[j] = i == j ? std::sqrt(sum) : sum / other[j];
    }
  }
  reduced_.assign(static_cast<size_t>(n * n), 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(gram.row(i), i + 1, reduced_.begin() + static_cast<std::ptrdiff_t>(i * n));
  }
  lower_ = std::move(gram);
  fit_dim_ = n;
  return Status::Ok();
}

// V = L⁻¹ Z W. A start for a fit: scores in float32 are enough.
Status LogisticFitter::ToReduced(std::vector<float>* parameters) {
  const size_t n = static_cast<size_t>(fit_dim_), dim = scales_.size();
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  std::copy(parameters->begin(), parameters->end(), head_->parameters().begin());
  const Span<float> bias = head_->parameters().subspan(n_outputs * dim, n_outputs);
  std::fill(bias.begin(), bias.end(), 0.0f);
  std::vector<float> scores(n * n_outputs);
  for (int64_t first = 0; first < design_.n; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, design_.n - first);
    const std::vector<float> scaled = ScaledRows(first, count);
    std::vector<const float*> rows;
    for (int64_t b = 0; b < count; ++b) rows.push_back(scaled.data() + b * design_.dim);
    TW_RETURN_IF_ERROR(
        head_->Scores(rows.data(), count, scores.data() + first * design_.n_outputs));
  }
  std::vector<float> out((n + 1) * n_outputs);
  std::vector<double> v(n);
  const auto dot = TrainKernelsFor(BestCpuKernels()).dot_doubles;
  for (size_t c = 0; c < n_outputs; ++c) {
    for (size_t i = 0; i < n; ++i) {
      const double* row = lower_.row(static_cast<int64_t>(i));
      const double score = static_cast<double>(scores[i * n_outputs + c]);
      v[i] = (score - dot(row, v.data(), static_cast<int64_t>(i))) / row[i];
    }
    std::copy(v.begin(), v.end(), out.begin() + static_cast<std::ptrdiff_t>(c * n));
    out[n_outputs * n + c] = (*parameters)[n_outputs * dim + c];
  }
  *parameters = std::move(out);
  return Status::Ok();
}

// W = Zᵀ L⁻ᵀ V.
Status LogisticFitter::FromReduced(std::vector<float>* parameters) const {
  const size_t n = static_cast<size_t>(fit_dim_), dim = scales_.size();
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  std::vector<double> solved(parameters->begin(),
                             parameters->begin() + static_cast<std::ptrdiff_t>(n * n_outputs));
  for (size_t c = 0; c < n_outputs; ++c) {
    double* u = solved.data() + c * n;
    for (size_t i = n; i-- > 0;) {
      const double* row = lower_.row(static_cast<int64_t>(i));
      u[i] /= row[i];
      for (size_t k = 0; k < i; ++k) u[k] -= row[k] * u[i];
    }
  }
  TiledMatrix weights;
  TW_RETURN_IF_ERROR(weights.Allocate(design_.n_outputs, design_.dim, "the logistic weights"));
  const auto left = [&](int64_t b, int64_t first, int64_t count, double* to) {
    for (int64_t k = 0; k < count; ++k)
      to[k] = solved[static_cast<size_t>((first + k) * design_.n + b)];
  };
  const auto right = [&](int64_t b, int64_t first, int64_t count, double* to) {
    for (int64_t k = 0; k < count; ++k) to[k] = static_cast<double>(Scaled(b, first + k));
  };
  TW_RETURN_IF_ERROR(
      AddProducts(design_.n, design_.n_outputs, left, design_.dim, right, context_.pool, &weights));
  std::vector<float> out((dim + 1) * n_outputs);
  for (size_t c = 0; c < n_outputs; ++c) {
    const double* from = weights.at(static_cast<int64_t>(c), 0);
    std::copy_n(from, dim, out.begin() + static_cast<std::ptrdiff_t>(c * dim));
    out[n_outputs * dim + c] = (*parameters)[n_outputs * n + c];
  }
  *parameters = std::move(out);
  return Status::Ok();
}

// W' = W / scale, c' = c + W · mean; or back.
void LogisticFitter::Rescale(const std::vector<float>& from, bool back,
                             std::vector<float>* to) const {
  const size_t dim = scales_.size();
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  to->resize(from.size());
  for (size_t c = 0; c < n_outputs; ++c) {
    double bias = static_cast<double>(from[n_outputs * dim + c]);
    for (size_t d = 0; d < dim; ++d) {
      double weight = static_cast<double>(from[c * dim + d]);
      if (back) weight *= scales_[d];
      bias += (back ? -weight : weight) * means_[d];
      if (!back) weight = scales_[d] > 0.0 ? weight / scales_[d] : 0.0;
      (*to)[c * dim + d] = static_cast<float>(weight);
    }
    (*to)[n_outputs * dim + c] = static_cast<float>(bias);
  }
}

Result<std::vector<float>> LogisticFitter::ToFit(const std::vector<float>& parameters) {
  std::vector<float> fitted;
  Rescale(parameters, false, &fitted);
  if (is_reduced()) TW_RETURN_IF_ERROR(ToReduced(&fitted));
  return fitted;
}

Result<std::vector<float>> LogisticFitter::FromFit(const std::vector<float>& fitted) const {
  std::vector<float> scaled = fitted;
  if (is_reduced()) TW_RETURN_IF_ERROR(FromReduced(&scaled));
  std::vector<float> parameters;
  Rescale(scaled, true, &parameters);
  return parameters;
}

Status LogisticFitter::Fit(double penalty, Span<const int32_t> parts, int32_t left_out,
                           std::vector<float>* fitted, const LbfgsOptions& options) {
  const size_t dim = static_cast<size_t>(fit_dim_);
  const std::vector<float>& features = is_reduced() ? reduced_ : scaled_;
  const float* own = design_.loss_targets().weights;
  std::vector<const float*> rows;
  std::vector<int32_t> labels;
  std::vector<const float*> values;
  std::vector<int64_t> lengths;
  std::vector<float> weights;
  double total = 0.0;
  for (size_t b = 0; b < design_.rows.size(); ++b) {
    if (left_out >= 0 && parts[b] == left_out) continue;
    rows.push_back(features.data() + b * dim);
    lengths.push_back(static_cast<int64_t>(b) + 1);
    labels.push_back(design_.labels[b]);
    values.push_back(design_.values[b]);
    if (own != nullptr) weights.push_back(own[b]);
    total += RowWeight(context_.set->loss(), design_.loss_targets(), static_cast<int64_t>(b));
  }
  fit_head_->SetRowLengths(is_reduced() ? lengths.data() : nullptr);
  const double decay = penalty / total;
  const size_t n_weights = dim * static_cast<size_t>(design_.n_outputs);
  const Objective objective = [&](Span<const float> x, double* out_value, Span<float> gradient) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    std::copy(x.begin(), x.end(), fit_head_->parameters().begin());
    BatchLoss batch;
    TW_RETURN_IF_ERROR(fit_head_->ComputeGradient(
        context_.set->loss(), rows.data(),
        {labels.data(), values.data(), own != nullptr ? weights.data() : nullptr},
        static_cast<int64_t>(rows.size()), &batch));
    double squares = 0.0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double w = i < n_weights ? static_cast<double>(x[i]) : 0.0;
      squares += w * w;
      gradient[i] = fit_head_->gradient()[i] + static_cast<float>(decay * w);
    }
    *out_value = batch.loss_sum / batch.weight_sum + 0.5 * decay * squares;
    return Status::Ok();
  };
  Lbfgs lbfgs(options, *fitted);
  Status status = Status::Ok();
  while (status.ok() && !lbfgs.converged() && lbfgs.iterations() < kMostIterations) {
    status = lbfgs.Iterate(objective);
  }
  fit_head_->SetRowLengths(nullptr);
  TW_RETURN_IF_ERROR(status);
  fitted->assign(lbfgs.x().begin(), lbfgs.x().end());
  return Status::Ok();
}

Status LogisticFitter::FittedScores(const std::vector<float>& fitted, Span<float> out) {
  const std::vector<float>& features = is_reduced() ? reduced_ : scaled_;
  std::vector<const float*> rows;
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < design_.n; ++b) {
    rows.push_back(features.data() + b * fit_dim_);
    lengths.push_back(b + 1);
  }
  std::copy(fitted.begin(), fitted.end(), fit_head_->parameters().begin());
  fit_head_->SetRowLengths(is_reduced() ? lengths.data() : nullptr);
  const Status status = fit_head_->Scores(rows.data(), design_.n, out.data());
  fit_head_->SetRowLengths(nullptr);
  return status;
}

Status LogisticFitter::Scores(const std::vector<float>& parameters, Span<float> out) {
  std::copy(parameters.begin(), parameters.end(), head_->parameters().begin());
  return head_->Scores(design_.rows.data(), design_.n, out.data());
}

}  // namespace topwork
