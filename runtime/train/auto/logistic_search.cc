#include "runtime/train/auto/logistic_search.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/auto/left_out_loss.h"
#include "runtime/train/auto/loo.h"

namespace topwork {
namespace {

constexpr int kPenalties = 9;
constexpr int kFirstPenalty = 4;
// Examples that tell penalties apart: paired differences need fewer than an accuracy does.
constexpr size_t kEnough = 200;

// Enough to tell penalties apart. A mean gradient is spread over the outputs, and an output has the
// fewer examples the more outputs there are.
LbfgsOptions Rough(int64_t n_outputs) {
  const double n = static_cast<double>(n_outputs);
  LbfgsOptions options;
  options.gradient_tolerance = std::min(1e-3, 0.1 / (n * n));
  options.value_tolerance = 1e-4;
  return options;
}

}  // namespace

LogisticSearch::LogisticSearch(const TrainingContext& context, const HeadDesign* design,
                               Span<const int32_t> parts, LogisticFitter* fitter)
    : context_(context), design_(*design), parts_(parts), fitter_(fitter) {
  for (int32_t part = 0; part < kLooParts && members_.size() < kEnough; ++part) {
    if (std::count(parts_.begin(), parts_.end(), part) > 0) searched_.push_back(part);
    for (size_t b = 0; b < parts_.size(); ++b) {
      if (parts_[b] == part) members_.push_back(static_cast<int64_t>(b));
    }
  }
  parameters_.assign(searched_.size(), std::vector<float>(fitter_->n_fitted(), 0.0f));
  scores_.assign(static_cast<size_t>(design_.n * design_.n_outputs), 0.0f);
  all_scores_ = scores_;
}

double LogisticSearch::PenaltyOf(int at) const {
  return fitter_->mean_square() * std::pow(10.0, 0.75 * (1 - at));
}

// From *parameters on; scores of the part's own examples come into *out.
Status LogisticSearch::FitPart(int32_t part, double penalty, std::vector<float>* parameters,
                               std::vector<float>* out) {
  TW_RETURN_IF_ERROR(fitter_->Fit(penalty, parts_, part, parameters, Rough(design_.n_outputs)));
  TW_RETURN_IF_ERROR(fitter_->FittedScores(*parameters, all_scores_));
  const int64_t n_outputs = design_.n_outputs;
  for (int64_t b = 0; b < design_.n; ++b) {
    if (parts_[static_cast<size_t>(b)] != part) continue;
    std::copy_n(all_scores_.data() + b * n_outputs, n_outputs, out->data() + b * n_outputs);
  }
  return Status::Ok();
}

Status LogisticSearch::Try(int at, bool* out_better) {
  std::vector<std::vector<float>> parameters = parameters_;
  std::vector<float> scores(scores_.size());
  for (size_t k = 0; k < searched_.size(); ++k) {
    TW_RETURN_IF_ERROR(FitPart(searched_[k], PenaltyOf(at), &parameters[k], &scores));
  }
  std::vector<float> judged;
  for (int64_t b : members_) {
    const float* row = scores.data() + b * design_.n_outputs;
    judged.insert(judged.end(), row, row + design_.n_outputs);
  }
  TW_ASSIGN_OR_RETURN(const LeftOutLoss loss,
                      LossOfLeftOut(context_, design_, members_, judged, kRoughScale));
  *out_better = best_at_ < 0 || loss.loss < best_loss_;
  if (!*out_better) return Status::Ok();
  best_at_ = at;
  best_loss_ = loss.loss;
  parameters_ = std::move(parameters);
  scores_ = std::move(scores);
  return Status::Ok();
}

Status LogisticSearch::Run() {
  bool better = true;
  TW_RETURN_IF_ERROR(Try(kFirstPenalty, &better));
  for (int step : {1, -1}) {
    better = best_at_ == kFirstPenalty;
    for (int at = kFirstPenalty + step; better && at >= 0 && at < kPenalties; at += step) {
      TW_RETURN_IF_ERROR(Try(at, &better));
    }
  }
  for (int32_t part = 0; part < kLooParts; ++part) {
    if (std::count(searched_.begin(), searched_.end(), part) > 0) continue;
    if (std::count(parts_.begin(), parts_.end(), part) == 0) continue;
    std::vector<float> parameters(fitter_->n_fitted(), 0.0f);
    TW_RETURN_IF_ERROR(FitPart(part, penalty(), &parameters, &scores_));
  }
  return Status::Ok();
}

}  // namespace topwork
