#include "runtime/train/auto/head_selector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ports/port.h"
#include "runtime/train/auto/alo.h"
#include "runtime/train/judge/calibration.h"

namespace topwork {
namespace {

constexpr int kRidgePenalties = 33;
constexpr int kRidgeStep = 4;  // of the first pass over them
constexpr int kLogisticPenalties = 9;

// Where all left-out examples are right no finite scale is best. This one gives the mean margin the
// probability of a right answer after n right ones (Laplace's rule of succession).
double CautiousScale(const HeadDesign& design, const std::vector<double>& scores, bool labels) {
  double sum = 0.0;
  const size_t n_outputs = static_cast<size_t>(design.n_outputs);
  for (size_t b = 0; b < design.rows.size(); ++b) {
    const double* row = scores.data() + b * n_outputs;
    double margin = std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < n_outputs; ++c) {
      const size_t label = static_cast<size_t>(design.labels[b]);
      if (!labels) margin = std::min(margin, std::fabs(row[c]));
      if (labels && c != label) margin = std::min(margin, row[label] - row[c]);
    }
    sum += margin;
  }
  const double n = static_cast<double>(design.n);
  return std::log(n + 1.0) * n / std::max(sum, 1e-300);
}

std::vector<float> ToFloats(const std::vector<double>& from) { return {from.begin(), from.end()}; }

}  // namespace

HeadSelector::HeadSelector(const TrainingContext& context, const HeadDesign* design)
    : context_(context),
      design_(*design),
      parts_(MakeParts(*design, kLooParts, context.options->seed)) {}

// Loss, accuracy and the loss of every example, for scores times their best scale.
Status HeadSelector::Judge(const std::vector<double>& scores, HeadCandidate* out,
                           double* out_scale) const {
  std::vector<float> logits = ToFloats(scores);
  LossOptions loss = context_.set->loss();
  loss.label_smoothing = 0.0f;
  const Targets targets = design_.loss_targets();
  *out_scale = 1.0;
  const bool labels = UsesLabels(loss.loss);
  if (!IsRegression(loss.loss)) {
    TW_ASSIGN_OR_RETURN(
        const Temperature temperature,
        FindTemperature(loss.loss, logits.data(), targets, design_.n, design_.n_outputs, 1e-6));
    *out_scale = 1.0 / temperature.value;
    if (temperature.at_bound && temperature.value < 1.0) {
      *out_scale = std::min(*out_scale, CautiousScale(design_, scores, labels));
    }
  }
  double sum = 0.0;
  double weights = 0.0;
  double hits_sum = 0.0;
  out->part_losses.clear();
  for (int64_t b = 0; b < design_.n; ++b) {
    float* row = logits.data() + b * design_.n_outputs;
    for (int64_t c = 0; c < design_.n_outputs; ++c) {
      row[c] = static_cast<float>(static_cast<double>(row[c]) * *out_scale);
    }
    const double row_loss = EvaluateLossRow(loss, targets, b, design_.n_outputs, row);
    double hits = 0.0;
    LossRow(loss, targets, b, design_.n_outputs, 1.0f, row, &hits);
    sum += row_loss;
    weights += RowWeight(loss, targets, b);
    hits_sum += hits;
    out->part_losses.push_back(row_loss);
  }
  out->loss = sum / weights;
  out->accuracy = hits_sum / static_cast<double>(design_.n);
  return Status::Ok();
}

// Judges both kinds of left-out scores; the figures shown are those of `left_out`.
Status HeadSelector::Finish(const std::vector<double>& left_out,
                            const std::vector<double>& by_parts, HeadCandidate* candidate) {
  double scale = 1.0;
  TW_RETURN_IF_ERROR(Judge(left_out, candidate, &scale));
  HeadCandidate of_parts;
  double parts_scale = 1.0;
  TW_RETURN_IF_ERROR(Judge(by_parts, &of_parts, &parts_scale));
  candidate->part_losses = std::move(of_parts.part_losses);
  candidate->part_scores = ToFloats(by_parts);
  candidate->left_out = ToFloats(left_out);
  for (float& score : candidate->part_scores) score *= static_cast<float>(parts_scale);
  for (float& score : candidate->left_out) score *= static_cast<float>(scale);
  const HeadKind kind = candidate->choice.kind;
  if (kind == HeadKind::kRidge || kind == HeadKind::kImprint) candidate->choice.scale = scale;
  if (kind == HeadKind::kLogistic) candidate->choice.logistic_scale = scale;
  if (kind == HeadKind::kBlend) {
    candidate->choice.scale *= 0.5 * scale;
    candidate->choice.logistic_scale *= 0.5 * scale;
  }
  candidates_.push_back(std::move(*candidate));
  return Status::Ok();
}

// The penalty with the least left-out loss: of every fourth one, then of those around the best.
Status HeadSelector::TryRidge(Scaling scaling, const char* name) {
  const int64_t start = port::NowNanos();
  TW_ASSIGN_OR_RETURN(const RidgePath path,
                      RidgePath::Make(design_.ridge(), scaling, context_.pool, context_.watch));
  HeadCandidate best;
  best.name = name;
  const std::vector<double> penalties = path.Lambdas(kRidgePenalties);
  std::vector<double> scores(static_cast<size_t>(design_.n * design_.n_outputs));
  std::vector<double> best_scores;
  int best_at = 0;
  const auto try_penalty = [&](int at) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    const double penalty = penalties[static_cast<size_t>(at)];
    const Status status = path.LeaveGroupOut(penalty, scores);
    if (status.code() == StatusCode::kNumeric) return Status::Ok();
    TW_RETURN_IF_ERROR(status);
    HeadCandidate now;
    double scale = 1.0;
    TW_RETURN_IF_ERROR(Judge(scores, &now, &scale));
    if (!best_scores.empty() && !(now.loss < best.loss)) return Status::Ok();
    best.loss = now.loss;
    best.choice = {HeadKind::kRidge, scaling, penalty};
    best_scores = scores;
    best_at = at;
    return Status::Ok();
  };
  for (int at = 0; at < kRidgePenalties; at += kRidgeStep) TW_RETURN_IF_ERROR(try_penalty(at));
  for (int step = kRidgeStep / 2; step > 0; step /= 2) {
    const int middle = best_at;
    if (middle >= step) TW_RETURN_IF_ERROR(try_penalty(middle - step));
    if (middle + step < kRidgePenalties) TW_RETURN_IF_ERROR(try_penalty(middle + step));
  }
  if (best_scores.empty()) return NumericError("ridge regression finds no penalty that is enough");
  TW_RETURN_IF_ERROR(path.LeaveGroupOut(best.choice.penalty, parts_, scores));
  TW_RETURN_IF_ERROR(path.Solve(best.choice.penalty, &best.ridge));
  best.seconds = port::SecondsSince(start);
  return Finish(best_scores, scores, &best);
}

Status HeadSelector::TryImprint() {
  const int64_t start = port::NowNanos();
  HeadCandidate candidate;
  candidate.name = "imprint";
  candidate.choice.kind = HeadKind::kImprint;
  std::vector<float> left_out;
  std::vector<float> by_parts;
  LeftOutMeans(design_, design_.groups, &left_out);
  LeftOutMeans(design_, parts_, &by_parts);
  candidate.seconds = port::SecondsSince(start);
  return Finish({left_out.begin(), left_out.end()}, {by_parts.begin(), by_parts.end()}, &candidate);
}

// From a strong penalty to weaker ones, each part starting where it was; ends when two penalties
// in a row were worse than the best.
Status HeadSelector::TryLogistic() {
  const int64_t start = port::NowNanos();
  TW_ASSIGN_OR_RETURN(start_.logistic,
                      LogisticFitter::Create(context_, &design_, Scaling::kShrunken));
  start_.ridge = candidates_.front().ridge;
  LogisticFitter* fitter = start_.logistic.get();
  std::vector<std::vector<float>> parameters(static_cast<size_t>(kLooParts),
                                             std::vector<float>(fitter->n_fitted(), 0.0f));
  std::vector<float> scores(static_cast<size_t>(design_.n * design_.n_outputs));
  std::vector<double> best_scores;
  HeadCandidate best;
  best.name = "logistic";
  LbfgsOptions rough;  // enough to tell penalties apart
  rough.gradient_tolerance = 1e-4;
  rough.value_tolerance = 1e-6;
  int n_worse = 0;
  for (int i = 0; i < kLogisticPenalties && n_worse < 2; ++i) {
    const double penalty = fitter->mean_square() * std::pow(10.0, 0.75 * (1 - i));
    const auto fit = [&](int32_t part, Span<float> out) {
      std::vector<float>* of_part = &parameters[static_cast<size_t>(part)];
      TW_RETURN_IF_ERROR(fitter->Fit(penalty, parts_, part, of_part, rough));
      return fitter->FittedScores(*of_part, out);
    };
    TW_RETURN_IF_ERROR(CrossValidate(design_, parts_, fit, &scores));
    HeadCandidate now;
    double scale = 1.0;
    const std::vector<double> as_doubles(scores.begin(), scores.end());
    TW_RETURN_IF_ERROR(Judge(as_doubles, &now, &scale));
    ++n_worse;
    if (!best_scores.empty() && !(now.loss < best.loss)) continue;
    n_worse = 0;
    best.loss = now.loss;
    best.choice = {HeadKind::kLogistic, Scaling::kShrunken, 0.0, 1.0, penalty, 1.0};
    best_scores = as_doubles;
  }
  best.choice.penalty = candidates_.front().choice.penalty;
  best.choice.scale = candidates_.front().choice.scale;
  best.ridge = start_.ridge;
  std::vector<double> left_out = best_scores;
  if (CanApproximate(context_, design_)) {
    LooMethod method = LooMethod::kExact;
    TW_RETURN_IF_ERROR(LeftOutOf(context_, design_, best.choice, &start_, &scores, &method));
    left_out.assign(scores.begin(), scores.end());
  }
  best.seconds = port::SecondsSince(start);
  return Finish(left_out, best_scores, &best);
}

Status HeadSelector::TryBlend(const HeadCandidate& ridge, const HeadCandidate& logistic) {
  HeadCandidate candidate;
  candidate.name = "mean of both";
  candidate.choice = logistic.choice;
  candidate.choice.kind = HeadKind::kBlend;
  candidate.choice.penalty = ridge.choice.penalty;
  candidate.choice.scale = ridge.choice.scale;
  candidate.ridge = ridge.ridge;
  const auto mean = [](const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<double> out(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      out[i] = 0.5 * (static_cast<double>(a[i]) + static_cast<double>(b[i]));
    return out;
  };
  return Finish(mean(ridge.left_out, logistic.left_out),
                mean(ridge.part_scores, logistic.part_scores), &candidate);
}

// The preferred candidate, unless one has a loss that is less by more than two standard errors of
// the difference, example by example (after the rule of Breiman et al. 1984, which has one).
void HeadSelector::Choose() {
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0.0;
    for (double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  size_t best = preferred_;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (mean(candidates_[i].part_losses) < mean(candidates_[best].part_losses)) best = i;
  }
  std::vector<double> gain = candidates_[preferred_].part_losses;
  for (size_t b = 0; b < gain.size(); ++b) gain[b] -= candidates_[best].part_losses[b];
  const double mean_gain = mean(gain);
  double square = 0.0;
  for (double g : gain) square += (g - mean_gain) * (g - mean_gain);
  const double error = std::sqrt(square) / static_cast<double>(gain.size());
  const bool better = mean_gain > 2.0 * error;
  chosen_ = static_cast<int>(better ? best : preferred_);
  const std::string& first = candidates_[preferred_].name;
  reason_ = better ? StrFormat(
                         "{} loses less than {} on examples left out, by more than two "
                         "standard errors",
                         candidates_[best].name, first)
                   : StrFormat(
                         "{}: no other loses less on examples left out by more than two "
                         "standard errors",
                         first);
}

HeadStart HeadSelector::TakeStart() {
  start_.ridge = candidates_[static_cast<size_t>(chosen_)].ridge;
  return std::move(start_);
}

Status HeadSelector::Run(double max_seconds) {
  const int64_t start = port::NowNanos();
  const auto late = [&] { return max_seconds > 0.0 && port::SecondsSince(start) >= max_seconds; };
  const Loss loss = context_.set->loss().loss;
  TW_RETURN_IF_ERROR(TryRidge(Scaling::kShrunken, "ridge"));
  if (!late() && UsesLabels(loss)) TW_RETURN_IF_ERROR(TryImprint());
  if (!late() && loss != Loss::kMeanSquaredError) {
    TW_RETURN_IF_ERROR(TryLogistic());
    preferred_ = candidates_.size() - 1;
    const HeadCandidate first = candidates_.front();
    const HeadCandidate second = candidates_.back();
    TW_RETURN_IF_ERROR(TryBlend(first, second));
  }
  if (!late() && IsRegression(loss)) {
    TW_RETURN_IF_ERROR(TryRidge(Scaling::kNone, "ridge, features as they are"));
  }
  if (!late() && IsRegression(loss)) {
    TW_RETURN_IF_ERROR(TryRidge(Scaling::kStandard, "ridge, standardised"));
  }
  Choose();
  return Status::Ok();
}

}  // namespace topwork
