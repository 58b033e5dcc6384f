#include "runtime/train/auto/head_selector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ports/port.h"
#include "runtime/train/auto/alo.h"
#include "runtime/train/auto/left_out_loss.h"
#include "runtime/train/auto/logistic_search.h"

namespace topwork {
namespace {

constexpr int kRidgePenalties = 33;
constexpr int kRidgeStep = 4;  // of the first pass over them
// Penalties are compared on a part of the examples where all of them would take more multiplications,
// but on no fewer than kEnoughSampled.
constexpr double kMostPathWork = 5e8;
constexpr int64_t kEnoughSampled = 400;
// At most: ridge by three scalings, logistic, and the mean of two.
constexpr size_t kMostCandidates = 5;
// Of the examples' scores, in floats: two of each candidate, and four while one is judged.
constexpr size_t kScoreArrays = 2 * kMostCandidates + 4;

std::vector<float> ToFloats(const std::vector<double>& from) { return {from.begin(), from.end()}; }

// What LeaveOneOut judges with that stride; 1: none, which stands for all.
std::vector<int64_t> Sample(const HeadDesign& design, int64_t stride) {
  std::vector<int64_t> sample;
  for (int64_t b = 0; b < design.n && stride > 1; ++b) {
    if (b / RidgePath::kSampled % stride == 0) sample.push_back(b);
  }
  return sample;
}

std::vector<float> RowsOf(const std::vector<double>& scores, Span<const int64_t> sample,
                          int64_t n_outputs) {
  if (sample.empty()) return ToFloats(scores);
  std::vector<float> rows;
  for (int64_t b : sample) {
    const double* row = scores.data() + b * n_outputs;
    rows.insert(rows.end(), row, row + n_outputs);
  }
  return rows;
}

}  // namespace

HeadSelector::HeadSelector(const TrainingContext& context, const HeadDesign* design)
    : context_(context),
      design_(*design),
      parts_(MakeParts(*design, kLooParts, context.options->seed)) {}

// Judges both kinds of left-out scores; the figures shown are those of `left_out`.
Status HeadSelector::Finish(std::vector<float> left_out, std::vector<float> by_parts,
                            HeadCandidate* candidate) {
  TW_ASSIGN_OR_RETURN(const LeftOutFigures alone, FiguresOfLeftOut(context_, design_, left_out));
  TW_ASSIGN_OR_RETURN(LeftOutFigures in_parts, FiguresOfLeftOut(context_, design_, by_parts));
  const double scale = alone.mean.scale;
  candidate->loss = alone.mean.loss;
  candidate->accuracy = alone.accuracy;
  candidate->part_losses = std::move(in_parts.losses);
  candidate->part_scores = std::move(by_parts);
  candidate->left_out = std::move(left_out);
  for (float& score : candidate->part_scores) score *= static_cast<float>(in_parts.mean.scale);
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
  const bool first = candidates_.empty();  // the logistic head has its scaling
  TW_ASSIGN_OR_RETURN(const RidgePath path,
                      RidgePath::Make(design_.ridge(), scaling, context_.pool, context_.watch,
                                      first ? &start_.gram : nullptr));
  HeadCandidate best;
  best.name = name;
  const std::vector<double> penalties = path.Lambdas(kRidgePenalties);
  std::vector<double> scores(static_cast<size_t>(design_.n * design_.n_outputs));
  std::vector<float> best_scores;
  int best_at = 0;
  const int64_t most = std::max<int64_t>(1, design_.n / kEnoughSampled);
  const int64_t needed = static_cast<int64_t>(path.WorkOfLeaveOneOut() / kMostPathWork) + 1;
  const int64_t stride = design_.groups.empty() ? std::min(most, needed) : 1;
  const std::vector<int64_t> sample = Sample(design_, stride);
  const auto try_penalty = [&](int at) {
    if (context_.watch->cancelled()) return Cancelled("training was cancelled");
    const double penalty = penalties[static_cast<size_t>(at)];
    const Status status = stride > 1 ? path.LeaveOneOut(penalty, scores, stride)
                                     : path.LeaveGroupOut(penalty, scores);
    if (status.code() == StatusCode::kNumeric) return Status::Ok();
    TW_RETURN_IF_ERROR(status);
    std::vector<float> floats = RowsOf(scores, sample, design_.n_outputs);
    TW_ASSIGN_OR_RETURN(const LeftOutLoss now,
                        LossOfLeftOut(context_, design_, sample, floats, kRoughScale));
    if (!best_scores.empty() && !(now.loss < best.loss)) return Status::Ok();
    best.loss = now.loss;
    best.choice = {HeadKind::kRidge, scaling, penalty};
    best_scores = std::move(floats);
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
  if (stride > 1) {
    TW_RETURN_IF_ERROR(path.LeaveOneOut(best.choice.penalty, scores));
    best_scores = ToFloats(scores);
  }
  TW_RETURN_IF_ERROR(path.LeaveGroupOut(best.choice.penalty, parts_, scores));
  TW_RETURN_IF_ERROR(path.Solve(best.choice.penalty, &best.ridge));
  best.seconds = port::SecondsSince(start);
  return Finish(std::move(best_scores), ToFloats(scores), &best);
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
  return Finish(std::move(left_out), std::move(by_parts), &candidate);
}

Status HeadSelector::TryLogistic() {
  const int64_t start = port::NowNanos();
  TW_ASSIGN_OR_RETURN(
      start_.logistic,
      LogisticFitter::Create(context_, &design_, Scaling::kShrunken, std::move(start_.gram)));
  start_.ridge = candidates_.front().ridge;
  LogisticSearch search(context_, &design_, parts_, start_.logistic.get());
  TW_RETURN_IF_ERROR(search.Run());
  HeadCandidate best;
  best.name = "logistic";
  best.choice = {HeadKind::kLogistic, Scaling::kShrunken, 0.0, 1.0, search.penalty(), 1.0};
  best.choice.penalty = candidates_.front().choice.penalty;
  best.choice.scale = candidates_.front().choice.scale;
  best.ridge = start_.ridge;
  std::vector<float> by_parts = search.TakeScores();
  std::vector<float> left_out = by_parts;
  if (CanApproximate(context_, design_)) {
    LooMethod method = LooMethod::kExact;
    TW_RETURN_IF_ERROR(LeftOutOf(context_, design_, best.choice, &start_, &left_out, &method));
  }
  best.seconds = port::SecondsSince(start);
  return Finish(std::move(left_out), std::move(by_parts), &best);
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
    std::vector<float> out(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = 0.5f * (a[i] + b[i]);
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
  candidates_.reserve(kMostCandidates);
  TW_RETURN_IF_ERROR(context_.watch->Expect(
      design_.bytes() + kScoreArrays * design_.targets.size() * sizeof(float),
      "the left-out scores of all examples"));
  TW_RETURN_IF_ERROR(TryRidge(Scaling::kShrunken, "ridge"));
  if (!late() && UsesLabels(loss)) TW_RETURN_IF_ERROR(TryImprint());
  if (!late() && loss != Loss::kMeanSquaredError) {
    TW_RETURN_IF_ERROR(TryLogistic());
    preferred_ = candidates_.size() - 1;
    TW_RETURN_IF_ERROR(TryBlend(candidates_.front(), candidates_.back()));
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
