// ScoreJudge: both readings of the scores are counted side by side, and Finish chooses.
#include "runtime/train/judge/score_judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace topwork {
namespace {

constexpr double kSumTolerance = 0.02;  // of a row of rounded probabilities

ScoreMap MapOf(const ScoreJudgeOptions& options) {
  ScoreMap map;
  const bool single = options.n_scores == 1 && options.n_classes == 2;
  map.n_scores = single ? 2 : options.n_scores;
  map.score_of_class = options.score_of_class;
  if (map.score_of_class.empty()) {
    map.score_of_class.resize(static_cast<size_t>(options.n_classes));
    std::iota(map.score_of_class.begin(), map.score_of_class.end(), 0);
  }
  return map;
}

MetricsCollector CollectorOf(const ScoreJudgeOptions& options) {
  if (UsesLabels(options.loss.loss)) return MetricsCollector(MapOf(options), options.top_k);
  return MetricsCollector(options.loss, options.n_classes, options.top_k);
}

}  // namespace

Status CheckJudgeOptions(const ScoreJudgeOptions& options) {
  const int kind = static_cast<int>(options.kind);
  if (kind < 0 || kind > static_cast<int>(ScoreKind::kProbabilities)) {
    return InvalidArgument("scores {} do not exist; they are one of 0 to 2", kind);
  }
  if (options.n_classes < 1 || options.n_scores < 1) {
    return InvalidArgument("n_classes is {} and n_scores {}; both are 1 or more", options.n_classes,
                           options.n_scores);
  }
  const bool labels = UsesLabels(options.loss.loss);
  const std::vector<int>& map = options.score_of_class;
  const bool single = options.n_scores == 1 && options.n_classes == 2 && labels;
  const int n_scores = single ? 2 : options.n_scores;
  if (map.empty() && n_scores < options.n_classes) {
    return InvalidArgument("{} classes have {} scores; score_of_class says which class has which",
                           options.n_classes, n_scores);
  }
  if (!map.empty() && map.size() != static_cast<size_t>(options.n_classes)) {
    return InvalidArgument("score_of_class has {} entries for {} classes", map.size(),
                           options.n_classes);
  }
  for (size_t c = 0; c < map.size(); ++c) {
    if (map[c] < n_scores && map[c] >= (labels ? -1 : 0)) continue;
    return InvalidArgument("score_of_class[{}] is {}; the scores are 0 to {}", c, map[c],
                           n_scores - 1);
  }
  if (options.top_k < 1 || options.n_worst < 0) {
    return InvalidArgument("top_k is {} and n_worst {}; they begin at 1 and 0", options.top_k,
                           options.n_worst);
  }
  return Status::Ok();
}

ScoreJudge::ScoreJudge(const ScoreJudgeOptions& options)
    : options_(options), as_logits_(CollectorOf(options)), as_probabilities_(as_logits_) {}

Status ScoreJudge::CheckScores(const float* scores) {
  for (int i = 0; i < options_.n_scores; ++i) {
    if (!std::isnan(scores[i])) continue;
    return NumericError("score {} of example {} is not a number", i, n_);
  }
  return Status::Ok();
}

// What tells probabilities from logits, of the scores that are judged.
void ScoreJudge::NoteRange(const float* scores, int n_scores) {
  const bool pairs = is_single() || !UsesLabels(options_.loss.loss);  // p and 1 − p
  double sum = 0.0;
  for (int i = 0; i < n_scores; ++i) {
    const double score = static_cast<double>(scores[i]);
    in_unit_ = in_unit_ && score >= 0.0 && score <= 1.0;
    if (score > 0.0) smallest_seen_ = std::min(smallest_seen_, score);
    if (pairs && score < 1.0) smallest_seen_ = std::min(smallest_seen_, 1.0 - score);
    sum += score;
  }
  sums_to_one_ = sums_to_one_ && std::fabs(sum - 1.0) < kSumTolerance;
}

Status ScoreJudge::AddLabel(const float* scores, int64_t label) {
  if (!UsesLabels(options_.loss.loss)) {
    return InvalidArgument("examples of this loss have targets, not a label");
  }
  if (label < 0 || label >= options_.n_classes) {
    return InvalidArgument("label {} is outside of the {} classes", label, options_.n_classes);
  }
  TW_RETURN_IF_ERROR(CheckScores(scores));
  ++n_;
  NoteRange(scores, options_.n_scores);
  if (is_single()) {
    kept_scores_.push_back(scores[0]);
    kept_labels_.push_back(static_cast<int32_t>(label));
    kept_groups_.push_back(group_);
  } else {
    CountSoftmax(scores, static_cast<int32_t>(label));
  }
  return Status::Ok();
}

void ScoreJudge::CountSoftmax(const float* scores, int32_t label) {
  Seen seen = {};
  seen.label = label;
  seen.predicted =
      static_cast<int32_t>(std::max_element(scores, scores + options_.n_scores) - scores);
  if (options_.kind != ScoreKind::kProbabilities) {
    seen.loss_of_logits = as_logits_.AddLogits(scores, label);
    if (has_groups_) as_logits_.CountGroup(group_, seen.loss_of_logits);
  }
  if (options_.kind != ScoreKind::kLogits) {
    seen.loss_of_probabilities = as_probabilities_.AddProbabilities(scores, label);
    if (has_groups_) as_probabilities_.CountGroup(group_, seen.loss_of_probabilities);
  }
  if (options_.n_worst > 0) seen_.push_back(seen);
}

Status ScoreJudge::AddTargets(const float* scores, const float* targets) {
  if (UsesLabels(options_.loss.loss)) {
    return InvalidArgument("examples of the softmax loss have a label, not targets");
  }
  TW_RETURN_IF_ERROR(CheckScores(scores));
  std::vector<float> row;
  for (int c = 0; c < options_.n_classes; ++c) {
    const size_t i = static_cast<size_t>(c);
    row.push_back(scores[options_.score_of_class.empty() ? c : options_.score_of_class[i]]);
  }
  ++n_;
  if (!IsRegression(options_.loss.loss)) {
    NoteRange(row.data(), options_.n_classes);
    kept_scores_.insert(kept_scores_.end(), row.begin(), row.end());
    kept_targets_.insert(kept_targets_.end(), targets, targets + options_.n_classes);
    kept_groups_.push_back(group_);
    return Status::Ok();
  }
  const double loss = as_logits_.AddValues(row.data(), targets);
  if (has_groups_) as_logits_.CountGroup(group_, loss);
  if (options_.n_worst > 0) seen_.push_back({-1, -1, loss, 0.0});
  return Status::Ok();
}

bool ScoreJudge::AreProbabilities() const {
  if (IsRegression(options_.loss.loss)) return false;
  if (options_.kind != ScoreKind::kUnknown) return options_.kind == ScoreKind::kProbabilities;
  const bool one_score = is_single() || !UsesLabels(options_.loss.loss);
  return in_unit_ && (sums_to_one_ || one_score);
}

double ScoreJudge::Smallest() const {
  return options_.smallest_probability > 0.0 ? options_.smallest_probability : 0.5 * smallest_seen_;
}

ScoreEvaluation ScoreJudge::Finish() const {
  if (is_single()) return FinishSingles();
  if (options_.loss.loss == Loss::kSigmoidCrossEntropy) return FinishDecisions();
  ScoreEvaluation result;
  const bool probabilities = AreProbabilities();
  const MetricsCollector& collector = probabilities ? as_probabilities_ : as_logits_;
  static_cast<Evaluation&>(result) = collector.Finish(Smallest());
  result.are_probabilities = probabilities;
  result.worst = Worst(probabilities);
  return result;
}

// Examples whose class has no score have no loss, and are left out.
std::vector<WorstExample> ScoreJudge::Worst(bool probabilities) const {
  std::vector<WorstExample> all;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const Seen& seen = seen_[i];
    double loss = probabilities ? seen.loss_of_probabilities : seen.loss_of_logits;
    if (std::isnan(loss)) continue;
    if (probabilities && std::isinf(loss)) loss = -std::log(Smallest());
    all.push_back({static_cast<int32_t>(i), seen.label, seen.predicted, loss});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const WorstExample& a, const WorstExample& b) { return a.loss > b.loss; });
  all.resize(std::min(all.size(), static_cast<size_t>(options_.n_worst)));
  return all;
}

// A score s of the second class stands for 1 − s and s, or for the logits 0 and s.
ScoreEvaluation ScoreJudge::FinishSingles() const {
  ScoreJudgeOptions options = options_;
  options.n_scores = 2;
  options.kind = AreProbabilities() ? ScoreKind::kProbabilities : ScoreKind::kLogits;
  options.smallest_probability = Smallest();
  ScoreJudge pairs(options);
  for (size_t i = 0; i < kept_scores_.size(); ++i) {
    const float s = kept_scores_[i];
    const float pair[] = {options.kind == ScoreKind::kProbabilities ? 1.0f - s : 0.0f, s};
    if (has_groups_) pairs.SetGroup(kept_groups_[i]);
    pairs.CountSoftmax(pair, kept_labels_[i]);
  }
  return pairs.Finish();
}

ScoreEvaluation ScoreJudge::FinishDecisions() const {
  ScoreEvaluation result;
  result.are_probabilities = AreProbabilities();
  const size_t n_classes = static_cast<size_t>(options_.n_classes);
  MetricsCollector collector = as_logits_;
  ScoreJudge worst(options_);
  for (size_t i = 0; i < static_cast<size_t>(n_); ++i) {
    const float* scores = kept_scores_.data() + i * n_classes;
    const float* targets = kept_targets_.data() + i * n_classes;
    const double loss = result.are_probabilities
                            ? collector.AddDecisionProbabilities(scores, targets, Smallest())
                            : collector.AddValues(scores, targets);
    if (has_groups_) collector.CountGroup(kept_groups_[i], loss);
    if (options_.n_worst > 0) worst.seen_.push_back({-1, -1, loss, loss});
  }
  static_cast<Evaluation&>(result) = collector.Finish();
  result.worst = worst.Worst(false);
  return result;
}

}  // namespace topwork
