#include "runtime/train/auto/left_out_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/train/train_kernels.h"
#include "runtime/train/judge/calibration.h"

namespace topwork {
namespace {

constexpr int64_t kRowsAtOnce = 64;

// Scores of examples and their targets, side by side.
struct Scored {
  int64_t n = 0, n_outputs = 0;
  std::vector<int32_t> labels;
  std::vector<const float*> values;
  std::vector<float> weights;  // empty: all 1
  Span<const float> scores;
  Targets targets() const {
    return {labels.data(), values.data(), weights.empty() ? nullptr : weights.data()};
  }
};

// Where all left-out examples are right no finite scale is best. This one gives the mean margin the
// probability of a right answer after n right ones (Laplace's rule of succession).
double CautiousScale(const Scored& scored, bool labels) {
  double sum = 0.0;
  const size_t n_outputs = static_cast<size_t>(scored.n_outputs);
  for (size_t b = 0; b < scored.labels.size(); ++b) {
    const float* row = scored.scores.data() + b * n_outputs;
    double margin = std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < n_outputs; ++c) {
      const size_t label = static_cast<size_t>(scored.labels[b]);
      const double score = static_cast<double>(row[c]);
      if (!labels) margin = std::min(margin, std::fabs(score));
      if (labels && c != label) margin = std::min(margin, static_cast<double>(row[label]) - score);
    }
    sum += margin;
  }
  const double n = static_cast<double>(scored.n);
  return std::log(n + 1.0) * n / std::max(sum, 1e-300);
}

Result<double> BestScale(const LossOptions& loss, const Scored& scored, double tolerance) {
  if (IsRegression(loss.loss)) return 1.0;
  TW_ASSIGN_OR_RETURN(const Temperature temperature,
                      FindTemperature(loss.loss, scored.scores.data(), scored.targets(), scored.n,
                                      scored.n_outputs, tolerance));
  const double scale = 1.0 / temperature.value;
  if (!temperature.at_bound || temperature.value >= 1.0) return scale;
  return std::min(scale, CautiousScale(scored, UsesLabels(loss.loss)));
}

void ScaleRow(const Scored& scored, int64_t b, double scale, float* out) {
  const float* row = scored.scores.data() + b * scored.n_outputs;
  for (int64_t c = 0; c < scored.n_outputs; ++c) {
    out[c] = static_cast<float>(static_cast<double>(row[c]) * scale);
  }
}

double SumOfLosses(const LossOptions& loss, const Scored& scored, double scale) {
  double sum = 0.0;
  std::vector<float> row(static_cast<size_t>(scored.n_outputs));
  for (int64_t b = 0; b < scored.n; ++b) {
    ScaleRow(scored, b, scale, row.data());
    sum += EvaluateLossRow(loss, scored.targets(), b, scored.n_outputs, row.data());
  }
  return sum;
}

// The same with exponentials in float32, for softmax.
double RoughSumOfLosses(const LossOptions& loss, const Scored& scored, double scale) {
  const TrainKernels& kernels = TrainKernelsFor(BestCpuKernels());
  const Targets targets = scored.targets();
  SoftmaxMoments moments[kRowsAtOnce];
  double sum = 0.0;
  for (int64_t first = 0; first < scored.n; first += kRowsAtOnce) {
    const int64_t n = std::min(kRowsAtOnce, scored.n - first);
    const float* z = scored.scores.data() + first * scored.n_outputs;
    kernels.softmax_moments(z, n, scored.n_outputs, static_cast<float>(scale), moments);
    for (int64_t b = 0; b < n; ++b, z += scored.n_outputs) {
      const size_t label = static_cast<size_t>(scored.labels[static_cast<size_t>(first + b)]);
      const double below = static_cast<double>(moments[b].max) - static_cast<double>(z[label]);
      const double weight = RowWeight(loss, targets, first + b);
      sum += weight * (std::log(moments[b].sum) + scale * below);
    }
  }
  return sum;
}

Scored Select(const HeadDesign& design, Span<const int64_t> members, Span<const float> scores) {
  Scored scored;
  scored.n = members.empty() ? design.n : static_cast<int64_t>(members.size());
  scored.n_outputs = design.n_outputs;
  scored.scores = scores;
  for (int64_t i = 0; i < scored.n; ++i) {
    const size_t b = static_cast<size_t>(members.empty() ? i : members[static_cast<size_t>(i)]);
    scored.labels.push_back(design.labels[b]);
    scored.values.push_back(design.values[b]);
    if (design.has_own_weights) scored.weights.push_back(design.weights[b]);
  }
  return scored;
}

// Labels are never smoothed here.
LossOptions LossOf(const TrainingContext& context) {
  LossOptions loss = context.set->loss();
  loss.label_smoothing = 0.0f;
  return loss;
}

}  // namespace

Result<LeftOutLoss> LossOfLeftOut(const TrainingContext& context, const HeadDesign& design,
                                  Span<const int64_t> members, Span<const float> scores,
                                  double tolerance) {
  const LossOptions loss = LossOf(context);
  const Scored scored = Select(design, members, scores);
  LeftOutLoss out;
  TW_ASSIGN_OR_RETURN(out.scale, BestScale(loss, scored, tolerance));
  double weights = 0.0;
  for (int64_t i = 0; i < scored.n; ++i) weights += RowWeight(loss, scored.targets(), i);
  const bool rough = tolerance >= kRoughScale && UsesLabels(loss.loss);
  out.loss =
      (rough ? RoughSumOfLosses(loss, scored, out.scale) : SumOfLosses(loss, scored, out.scale)) /
      weights;
  return out;
}

Result<LeftOutFigures> FiguresOfLeftOut(const TrainingContext& context, const HeadDesign& design,
                                        Span<const float> scores) {
  const LossOptions loss = LossOf(context);
  const Scored scored = Select(design, {}, scores);
  LeftOutFigures out;
  TW_ASSIGN_OR_RETURN(out.mean.scale, BestScale(loss, scored, kExactScale));
  double sum = 0.0, weights = 0.0, hits_sum = 0.0;
  std::vector<float> row(static_cast<size_t>(scored.n_outputs));
  for (int64_t b = 0; b < scored.n; ++b) {
    ScaleRow(scored, b, out.mean.scale, row.data());
    out.losses.push_back(EvaluateLossRow(loss, scored.targets(), b, scored.n_outputs, row.data()));
    double hits = 0.0;
    LossRow(loss, design.loss_targets(), b, scored.n_outputs, 1.0f, row.data(), &hits);
    sum += out.losses.back();
    weights += RowWeight(loss, design.loss_targets(), b);
    hits_sum += hits;
  }
  out.mean.loss = sum / weights;
  out.accuracy = hits_sum / static_cast<double>(scored.n);
  return out;
}

}  // namespace topwork
