#include "runtime/train/auto/logistic.h"

#include <algorithm>

#include "runtime/train/fit/solvers.h"

namespace topwork {
namespace {

constexpr int kMostIterations = 500;

}  // namespace

Result<std::unique_ptr<LogisticFitter>> LogisticFitter::Create(const TrainingContext& context,
                                                               const HeadDesign* design,
                                                               Scaling scaling) {
  std::unique_ptr<LogisticFitter> fitter(new LogisticFitter(context, design));
  TW_ASSIGN_OR_RETURN(FeatureScale scale, FeatureScale::Of(design->ridge(), scaling));
  fitter->scales_ = std::move(scale.factor);
  fitter->means_ = std::move(scale.mean);
  const size_t dim = static_cast<size_t>(design->dim);
  fitter->scaled_.resize(static_cast<size_t>(design->n) * dim);
  float* to = fitter->scaled_.data();
  double squares = 0.0;
  for (const float* row : design->rows) {
    for (size_t d = 0; d < dim; ++d) {
      const double centred = static_cast<double>(row[d]) - fitter->means_[d];
      *to = static_cast<float>(centred * fitter->scales_[d]);
      squares += static_cast<double>(*to) * static_cast<double>(*to);
      ++to;
    }
  }
  const double n_free =
      static_cast<double>(std::max<int64_t>(1, std::min(design->n - 1, design->dim)));
  fitter->mean_square_ = squares > 0.0 ? squares / n_free : 1.0;
  const TrainerOptions& options = *context.options;
  TW_ASSIGN_OR_RETURN(fitter->head_,
                      DenseHead::Create(design->dim, design->n_outputs, options.allocator,
                                        options.cpu, context.pool));
  context.watch->NoteBytes(fitter->bytes());
  return fitter;
}

size_t LogisticFitter::bytes() const {
  return design_.bytes() + scaled_.size() * sizeof(float) +
         24 * head_->parameters().size() * sizeof(float);
}

// W' = W / scale, c' = c + W · mean.
void LogisticFitter::ToScaled(const std::vector<float>& from, std::vector<float>* to) const {
  const size_t dim = scales_.size();
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  to->resize(from.size());
  for (size_t c = 0; c < n_outputs; ++c) {
    double bias = static_cast<double>(from[n_outputs * dim + c]);
    for (size_t d = 0; d < dim; ++d) {
      const double weight = static_cast<double>(from[c * dim + d]);
      bias += weight * means_[d];
      (*to)[c * dim + d] = scales_[d] > 0.0 ? static_cast<float>(weight / scales_[d]) : 0.0f;
    }
    (*to)[n_outputs * dim + c] = static_cast<float>(bias);
  }
}

void LogisticFitter::FromScaled(const std::vector<float>& from, std::vector<float>* to) const {
  const size_t dim = scales_.size();
  const size_t n_outputs = static_cast<size_t>(design_.n_outputs);
  to->resize(from.size());
  for (size_t c = 0; c < n_outputs; ++c) {
    double bias = static_cast<double>(from[n_outputs * dim + c]);
    for (size_t d = 0; d < dim; ++d) {
      const double weight = static_cast<double>(from[c * dim + d]) * scales_[d];
      bias -= weight * means_[d];
      (*to)[c * dim + d] = static_cast<float>(weight);
    }
    (*to)[n_outputs * dim + c] = static_cast<float>(bias);
  }
}

Status LogisticFitter::Fit(double penalty, Span<const int32_t> parts, int32_t left_out,
                           std::vector<float>* parameters) {
  const size_t dim = scales_.size();
  std::vector<const float*> rows;
  std::vector<int32_t> labels;
  std::vector<const float*> values;
  double total = 0.0;
  for (size_t b = 0; b < design_.rows.size(); ++b) {
    if (left_out >= 0 && parts[b] == left_out) continue;
    rows.push_back(scaled_.data() + b * dim);
    labels.push_back(design_.labels[b]);
    values.push_back(design_.values[b]);
    total += RowWeight(context_.set->loss(), design_.loss_targets(), static_cast<int64_t>(b));
  }
  const double decay = penalty / total;
  const size_t n_weights = dim * static_cast<size_t>(design_.n_outputs);
  const Objective objective = [&](Span<const float> x, double* out_value, Span<float> gradient) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    std::copy(x.begin(), x.end(), head_->parameters().begin());
    BatchLoss batch;
    TW_RETURN_IF_ERROR(head_->ComputeGradient(context_.set->loss(), rows.data(),
                                              {labels.data(), values.data()},
                                              static_cast<int64_t>(rows.size()), &batch));
    double squares = 0.0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double w = i < n_weights ? static_cast<double>(x[i]) : 0.0;
      squares += w * w;
      gradient[i] = head_->gradient()[i] + static_cast<float>(decay * w);
    }
    *out_value = batch.loss_sum / batch.weight_sum + 0.5 * decay * squares;
    return Status::Ok();
  };
  std::vector<float> start;
  ToScaled(*parameters, &start);
  Lbfgs lbfgs(LbfgsOptions(), std::move(start));
  while (!lbfgs.converged() && lbfgs.iterations() < kMostIterations) {
    TW_RETURN_IF_ERROR(lbfgs.Iterate(objective));
  }
  FromScaled(lbfgs.x(), parameters);
  return Status::Ok();
}

Status LogisticFitter::Scores(const std::vector<float>& parameters, Span<float> out) {
  std::copy(parameters.begin(), parameters.end(), head_->parameters().begin());
  return head_->Scores(design_.rows.data(), design_.n, out.data());
}

}  // namespace topwork
